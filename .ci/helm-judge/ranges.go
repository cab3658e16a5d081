package main

import (
	"encoding/json"
	"io"

	"github.com/Masterminds/semver/v3"
)

// Reads {"ranges": [...], "versions": [...]} and writes, for each range, which of the versions it takes, by the library that Helm uses: a text with 1 or 0 for each
// version, - for one that is no version; null for a range that cannot be read.
func ranges(in io.Reader, out io.Writer) error {
	var asked struct{ Ranges, Versions []string }
	if err := json.NewDecoder(in).Decode(&asked); err != nil {
		return err
	}
	answer := map[string]*string{}
	for _, text := range asked.Ranges {
		constraint, err := semver.NewConstraint(text)
		if err != nil {
			answer[text] = nil
			continue
		}
		taken := ""
		for _, each := range asked.Versions {
			version, err := semver.NewVersion(each)
			switch {
			case err != nil:
				taken += "-"
			case constraint.Check(version):
				taken += "1"
			default:
				taken += "0"
			}
		}
		answer[text] = &taken
	}
	return json.NewEncoder(out).Encode(answer)
}
