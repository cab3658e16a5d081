/** Which tags of a repository are wanted: those that fit everything that is set. */
export interface TagSelection {
  /** These tags exactly; one that is not there is an error. */
  names?: readonly string[];
  /** A pattern with `*` for any characters and `?` for one. */
  match?: string;
  /** A range of versions such as `>=1.2 <2`; tags that are no versions do not fit. */
  semver?: string;
  /** Only so many, the highest versions first; tags that are no versions do not count. */
  newest?: number;
  /** Only images whose config says that they were made so many milliseconds ago at most. */
  maxAgeMs?: number;
}
