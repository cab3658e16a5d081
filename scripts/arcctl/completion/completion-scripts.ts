/**
 * Completion scripts for the shells. Each runs `arcctl complete -- WORDS` on TAB. The output has a line per candidate, with its description after
 * a tab, and ends with `:N` as in cobra, which kubectl also reads from its plugins: 0 files, 4 no files, 2 no trailing space.
 */
export const completionScripts = {
  // Bash splits words at = and :, and replaces only the part after the last of them.
  bash: `_arcctl() {
  local line words last lead directive=4 candidate
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}"
  [[ "\${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=('')
  last="\${words[\${#words[@]}-1]}"
  [[ "$last" == *[=:]* ]] && lead="\${last%"\${last##*[=:]}"}"
  COMPREPLY=()
  while IFS=$'\\t' read -r candidate _; do
    case "$candidate" in
      :*) directive="\${candidate#:}" ;;
      *) COMPREPLY+=("\${candidate#"$lead"}") ;;
    esac
  done < <("\${words[0]}" complete -- "\${words[@]:1}" 2>/dev/null)
  if ((directive == 0)); then compopt -o default; fi
  if ((directive & 2)); then compopt -o nospace; fi
} 2>/dev/null
complete -F _arcctl arcctl
`,
  zsh: `#compdef arcctl
_arcctl() {
  local line directive=4
  local -a candidates options
  while IFS= read -r line; do
    case "$line" in
      :*) directive="\${line#:}" ;;
      *) line="\${line//:/\\\\:}"; candidates+=("\${line/$'\\t'/:}") ;;
    esac
  done < <("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( directive == 0 )); then _files; return; fi
  if (( directive & 2 )); then options=(-S ''); fi
  _describe -V arcctl candidates "\${options[@]}"
}
compdef _arcctl arcctl
`,
  fish: `function __arcctl_complete
  set -l words (commandline -opc)
  set -l program $words[1]
  set -e words[1]
  for line in ($program complete -- $words (commandline -ct) 2>/dev/null)
    switch $line
      case ':0'
        __fish_complete_path (commandline -ct)
      case ':*'
      case '*'
        echo $line
    end
  end
end
complete -c arcctl -f -a '(__arcctl_complete)'
`,
} as const;
