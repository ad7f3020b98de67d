# shellcheck shell=bash source-path=SCRIPTDIR
# Functions for bash, zsh and dash scripts: read the framework's JSON files. They need
# awk, but not jq.
#
#   get_config_field FILE FIELD
#       Prints the string value of FIELD at the top level of the JSON object in
#       FILE; a number, true or false is printed as written. Prints nothing and returns
#       status 1 if there is no such field, or it is null, an array or an object;
#       returns status 2 with an error line if FILE cannot be read or is not a JSON object.
#   show_version
#       Prints "<name> <version>" of the running installation.
#   show_number_version
#       Prints only the version. Both functions read GLOBAL_CONFIG_FILE and return the
#       same statuses as get_config_field.

# shellcheck source=logger.sh
command -v __cli_log >/dev/null || . "${__cli_lib:-${LIB_DIR:-${BASH_SOURCE[0]%/*}}}/logger.sh"

get_config_field() {
  if [ ! -f "${1-}" ] || [ ! -r "$1" ]; then
    __cli_log ERROR "configuration file not found: ${1-}"
    return 2
  fi
  local __cli_status=0
  __cli_json_field "$1" "${2-}" || __cli_status=$?
  if [ "$__cli_status" -gt 1 ]; then
    __cli_log ERROR "$1: not a JSON object"
    return 2
  fi
  return "$__cli_status"
}

show_version() {
  local __cli_name='' __cli_version=''
  __cli_name=$(get_config_field "${GLOBAL_CONFIG_FILE-}" name) || return
  __cli_version=$(get_config_field "$GLOBAL_CONFIG_FILE" version) || return
  printf '%s %s\n' "$__cli_name" "$__cli_version"
}

show_number_version() {
  get_config_field "${GLOBAL_CONFIG_FILE-}" version
}

# __cli_json_field FILE FIELD: scans the tokens and tracks the nesting depth, so that
# a key of the same name in a nested object, or inside a string, is not mistaken for
# the field. In the C locale awk works on bytes and leaves them unchanged.
__cli_json_field() {
  # shellcheck disable=SC2016 # the program is awk's
  LC_ALL=C __cli_field="$2" awk '
    { text = text $0 "\n" }

    function malformed() { exit 2 }

    # Returns the position of the quote that ends the string which starts at "from".
    function string_end(from,    c) {
      for (from++; from <= size; from++) {
        c = substr(text, from, 1)
        if (c == "\"") return from
        if (c == "\\") from++
      }
      malformed()
    }

    function hexadecimal(digits,    i, value, digit) {
      for (i = 1; i <= 4; i++) {
        digit = index("0123456789abcdef", tolower(substr(digits, i, 1)))
        if (substr(digits, i, 1) == "" || digit == 0) malformed()
        value = value * 16 + digit - 1
      }
      return value
    }

    # Code points that a shell string cannot hold become the replacement character.
    function utf8(code) {
      if (code == 0 || (code >= 55296 && code <= 57343)) code = 65533
      if (code < 128) return sprintf("%c", code)
      if (code < 2048) return sprintf("%c%c", 192 + int(code / 64), 128 + code % 64)
      if (code < 65536) return sprintf("%c%c%c", 224 + int(code / 4096), 128 + int(code / 64) % 64, 128 + code % 64)
      return sprintf("%c%c%c%c", 240 + int(code / 262144), 128 + int(code / 4096) % 64, 128 + int(code / 64) % 64, 128 + code % 64)
    }

    function decode(raw,    out, at, c, code, low) {
      while ((at = index(raw, "\\")) > 0) {
        out = out substr(raw, 1, at - 1)
        c = substr(raw, at + 1, 1)
        raw = substr(raw, at + 2)
        if (c == "u") {
          code = hexadecimal(raw)
          raw = substr(raw, 5)
          if (code >= 55296 && code <= 56319 && substr(raw, 1, 2) == "\\u") {
            low = hexadecimal(substr(raw, 3))
            if (low >= 56320 && low <= 57343) {
              code = 65536 + (code - 55296) * 1024 + low - 56320
              raw = substr(raw, 7)
            }
          }
          c = utf8(code)
        } else if (c == "n") c = "\n"
        else if (c == "t") c = "\t"
        else if (c == "r") c = "\r"
        else if (c == "b") c = "\b"
        else if (c == "f") c = "\f"
        else if (index("\"\\/", c) == 0) malformed()
        out = out c
      }
      return out raw
    }

    END {
      if (substr(text, 1, 3) == "\357\273\277") text = substr(text, 4)
      size = length(text)
      status = 1
      for (at = 1; at <= size; at++) {
        c = substr(text, at, 1)
        if (c ~ /[ \t\r\n]/) continue
        if (depth == 0 && (c != "{" || seen++)) { status = 2; break }
        if (c == "{" || c == "[") {
          if (depth == 1 && key == ENVIRON["__cli_field"]) status = 1
          if (++depth == 1) is_key = 1
        } else if (c == "}" || c == "]") depth--
        else if (c == ",") { if (depth == 1) is_key = 1 }
        else if (c == ":") { if (depth == 1) is_key = 0 }
        else if (c == "\"") {
          from = at
          at = string_end(at)
          if (depth > 1) continue
          raw = substr(text, from + 1, at - from - 1)
          if (is_key) key = decode(raw)
          else if (key == ENVIRON["__cli_field"]) { value = decode(raw); status = 0 }
        } else {
          from = at
          while (substr(text, at + 1, 1) ~ /[-+.0-9A-Za-z]/) at++
          raw = substr(text, from, at - from + 1)
          if (raw !~ /^(true|false|null|-?[0-9][-+.0-9eE]*)$/) { status = 2; break }
          if (depth == 1 && key == ENVIRON["__cli_field"]) { value = raw; status = (raw == "null") }
        }
      }
      if (depth != 0 || !seen) status = 2
      if (status == 0) print value
      exit status
    }
  ' <"$1"
}
