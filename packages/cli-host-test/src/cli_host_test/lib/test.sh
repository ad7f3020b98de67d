# shellcheck shell=bash
# What a .bats file gets from: load "$CLI_TEST_LIB"
#
# The file works with bash 3.2, the bash of macOS. Names that begin with _kit are not for tests.

# --- the surroundings of a test ---------------------------------------------------------------

# Give this test a copy of the installation, a HOME and a PATH, and no input.
_kit_prepare() {
  # bats also reads a file to count its tests; only tests and setup_file have a folder.
  local place=${BATS_TEST_TMPDIR:-${BATS_FILE_TMPDIR:-}}
  [[ -n $place ]] || return 0

  place=$place/cli
  _kit_fakes=$place/fakes
  _kit_calls=$place/calls
  CLI_TEST_ROOT=$place/${CLI_TEST_TEMPLATE##*/}
  HOME=$place/home
  TMPDIR=$place/tmp
  PATH=$_kit_fakes:$place/bin:$CLI_TEST_PATH
  export CLI_TEST_ROOT HOME TMPDIR PATH

  mkdir -p "$_kit_fakes" "$place/bin" "$HOME" "$TMPDIR"
  cp -RPp "$CLI_TEST_TEMPLATE" "$CLI_TEST_ROOT"
  # The name under which the caller knows the program; the launcher may have another one.
  ln -s "$CLI_TEST_ROOT/core/$CLI_TEST_LAUNCHER" "$place/bin/$CLI_TEST_PROGRAM"
  cd "$HOME" || return
  exec </dev/null # a script that asks must not wait for the user who runs the tests
}

# --- fakes ------------------------------------------------------------------------------------

# fake NAME [CODE]: put a program NAME on PATH that records its words and runs CODE, in bash.
fake() {
  local name=${1:?fake: which program?} code=${2:-}
  if [[ -z ${_kit_fakes:-} ]]; then
    echo 'fake: call it in a test, in setup or in setup_file' >&2
    return 1
  fi
  if [[ $name == */* ]]; then
    _kit_fail 'a fake is a program on PATH, so its name has no /' name "$name"
    return
  fi
  # The absolute path of this bash, so that even `bash` and `env` can be fakes.
  {
    printf '#!%s\n' "$BASH"
    printf "printf '%%s\\\\0' \"\$((\$# + 1))\" %q \"\$@\" >>%q\n" "$name" "$_kit_calls"
    printf '%s\n' "$code"
  } >"$_kit_fakes/$name"
  chmod +x "$_kit_fakes/$name"
}

# calls [NAME]: print the calls of all fakes, or of one, each as a line that a shell could read.
# shellcheck disable=SC2120 # tests pass the name
calls() {
  local count word line first
  [[ -e ${_kit_calls:-} ]] || return 0
  # A call is the number of its words and then each word, all with a NUL behind them.
  while IFS= read -r -d '' count; do
    line='' first=''
    while ((count-- > 0)) && IFS= read -r -d '' word; do
      first=${first:-$word}
      printf -v word '%q' "$word"
      line+=${line:+ }$word
    done
    if [[ $# -eq 0 || $first == "$1" ]]; then printf '%s\n' "$line"; fi
  done <"$_kit_calls"
}

# assert_called [--exact] [--times N] NAME [WORD...]: there was a call that begins with these words.
assert_called() {
  local exact='' times='' title count
  local usage='assert_called: [--exact] [--times N] NAME [WORD...]'
  while [[ ${1:-} == -* ]]; do
    case $1 in
      --exact) exact=1 ;;
      --times)
        times=${2:-}
        shift
        ;;
      *) break ;;
    esac
    shift
  done
  if [[ $# -eq 0 || $1 == -* || $times == *[!0-9]* ]]; then
    echo "usage: $usage" >&2
    return 1
  fi
  _kit_is_fake "$1" || return
  count=$(_kit_count "$exact" "$@")
  if [[ -n $times ]]; then
    ((count == times)) && return
    title='a program was not called as often as expected'
    _kit_fail "$title" 'expected' "$(_kit_quoted "$@")" 'times' "$times" 'actual' "$count"
  elif ((count == 0)); then
    title='no such call'
    [[ -z $exact ]] || title='no call with exactly these words'
    _kit_fail "$title" 'expected' "$(_kit_quoted "$@")"
  fi
}

# assert_not_called NAME [WORD...]: no call begins with these words.
assert_not_called() {
  if [[ $# -eq 0 ]]; then
    echo 'usage: assert_not_called: NAME [WORD...]' >&2
    return 1
  fi
  _kit_is_fake "$1" || return
  if (($(_kit_count '' "$@") > 0)); then
    _kit_fail 'a program was called' 'unexpected' "$(_kit_quoted "$@")"
  fi
}

# A misspelt name would make assert_not_called pass.
_kit_is_fake() {
  [[ -x ${_kit_fakes:-}/$1 ]] || _kit_fail "not a fake; before the run, write: fake $1" name "$1"
}

# Print how many calls begin with these words, or with a first argument have exactly them.
_kit_count() {
  local exact=$1 expected line count=0
  shift
  expected=$(_kit_quoted "$@")
  while IFS= read -r line; do
    # A quoted word ends where a space follows, so equal beginnings are equal words.
    if [[ $line == "$expected" || (-z $exact && $line == "$expected "*) ]]; then
      count=$((count + 1))
    fi
  done < <(calls "$1")
  echo "$count"
}

_kit_quoted() {
  local line
  printf -v line '%q ' "$@"
  printf '%s\n' "${line% }"
}

# --- failures ---------------------------------------------------------------------------------

# bats 1.12 and newer call this function if a command fails, such as [ "$output" = x ]. A function
# of the user has another body than the one that bats predefines.
if [[ $(declare -f bats::on_failure) == *$'\n    :\n'* ]]; then
  bats::on_failure() {
    _kit_show_calls >&2
  }
fi

# --- assertions, with the names and meanings of bats-assert -----------------------------------

# Print a failure: a title, names with values, and the calls of the fakes.
_kit_fail() {
  {
    printf -- '-- %s --\n' "$1"
    shift
    while (($# > 1)); do
      if [[ $2 == *$'\n'* ]]; then
        printf '%s (%s lines):\n' "$1" "$(_kit_lines "$2")"
        printf '%s\n' "$2" | sed 's/^/  /'
      else
        printf '%-8s : %s\n' "$1" "$2"
      fi
      shift 2
    done
    _kit_show_calls
    echo '--'
  } >&2
  return 1
}

# Print the calls of the fakes, if there are fakes, once in a test.
_kit_show_calls() {
  if [[ -n ${_kit_shown:-} ]]; then return; fi
  if [[ -s ${_kit_calls:-} ]]; then
    echo 'calls of fakes, in order:'
    # shellcheck disable=SC2119 # of all fakes
    calls | sed 's/^/  /'
  elif [[ -n $(ls -A "${_kit_fakes:-/dev/null}" 2>/dev/null) ]]; then
    echo 'no fake was called'
  fi
  _kit_shown=1
}

_kit_lines() {
  local newlines=${1//[!$'\n']/}
  echo $((${#newlines} + 1))
}

# fail [TEXT]: fail the test with this text.
fail() {
  _kit_fail "${*:-failed}"
}

# assert COMMAND...: the command succeeds.
assert() {
  "$@" || _kit_fail 'assertion failed' 'expression' "$*"
}

# refute COMMAND...: the command fails.
refute() {
  ! "$@" || _kit_fail 'assertion succeeded, but it was expected to fail' 'expression' "$*"
}

# assert_equal ACTUAL EXPECTED
assert_equal() {
  [[ $1 == "$2" ]] || _kit_fail 'values do not equal' 'expected' "$2" 'actual' "$1"
}

# assert_status N: `run` ended with this exit status.
assert_status() {
  # shellcheck disable=SC2154 # `run` of bats sets status, output and lines
  [[ $status == "$1" ]] ||
    _kit_fail 'another exit status' 'expected' "$1" 'actual' "$status" 'output' "$output"
}

assert_success() {
  ((status == 0)) || _kit_fail 'command failed' 'status' "$status" 'output' "$output"
}

# assert_failure [N]: `run` failed, with status N if that is given.
assert_failure() {
  if [[ $# -gt 0 ]]; then
    assert_status "$1"
  else
    ((status != 0)) || _kit_fail 'command succeeded, but it was expected to fail' 'output' "$output"
  fi
}

# assert_output [--partial|--regexp] TEXT: TEXT is the whole output, a part of it, or a regular
# expression that matches it. With - or --stdin, TEXT is read. Without TEXT, there is some output.
assert_output() {
  local mode expected index
  _kit_options assert_output "$@" || return
  case $mode in
    none) [[ -n $output ]] || _kit_fail 'no output' ;;
    *)
      _kit_matches "$mode" "$output" "$expected" ||
        _kit_fail "$(_kit_title output "$mode")" 'expected' "$expected" 'actual' "$output"
      ;;
  esac
}

# refute_output [--partial|--regexp] TEXT; without TEXT, there is no output.
refute_output() {
  local mode expected index
  _kit_options refute_output "$@" || return
  case $mode in
    none) [[ -z $output ]] || _kit_fail 'output, although none was expected' 'output' "$output" ;;
    *)
      ! _kit_matches "$mode" "$output" "$expected" ||
        _kit_fail 'output was not expected' 'unexpected' "$expected" 'output' "$output"
      ;;
  esac
}

# assert_line [--index N] [--partial|--regexp] TEXT: a line of the output, or line N, is TEXT.
assert_line() {
  local mode expected index line
  _kit_options assert_line "$@" || return
  if [[ -n $index ]]; then
    _kit_matches "$mode" "${lines[index]-}" "$expected" ||
      _kit_fail "$(_kit_title "line $index" "$mode")" \
        'expected' "$expected" 'actual' "${lines[index]-}" 'output' "$output"
    return
  fi
  for line in ${lines[@]+"${lines[@]}"}; do
    if _kit_matches "$mode" "$line" "$expected"; then return; fi
  done
  _kit_fail 'no output line matches' 'line' "$expected" 'output' "$output"
}

# refute_line [--index N] [--partial|--regexp] TEXT: no line of the output, or not line N, is TEXT.
refute_line() {
  local mode expected index line number=0
  _kit_options refute_line "$@" || return
  for line in ${lines[@]+"${lines[@]}"}; do
    if [[ -z $index || $index == "$number" ]] && _kit_matches "$mode" "$line" "$expected"; then
      _kit_fail 'line was not expected' 'line' "$line" 'index' "$number" 'output' "$output"
      return
    fi
    number=$((number + 1))
  done
}

# Read the options of assert_output and the others into their variables mode, expected and index.
_kit_options() {
  local name=$1
  shift
  mode=equal index=''
  while [[ $# -gt 0 ]]; do
    case $1 in
      -p | --partial) mode=partial ;;
      -e | --regexp) mode=regexp ;;
      -n | --index)
        index=${2:-}
        shift
        ;;
      - | --stdin)
        expected=$(cat)
        return
        ;;
      --)
        shift
        break
        ;;
      *) break ;;
    esac
    shift || break
  done
  if [[ $# -gt 1 || $index == *[!0-9]* || ($# -eq 0 && $name == *_line) ]]; then
    echo "usage: $name: [--partial|--regexp] TEXT" >&2
    return 1
  fi
  if [[ $# -eq 0 ]]; then
    mode=none expected=''
  else
    expected=$1
  fi
}

# _kit_matches MODE TEXT EXPECTED
_kit_matches() {
  case $1 in
    partial) [[ $2 == *"$3"* ]] ;;
    regexp)
      [[ $2 =~ $3 ]] && return
      [[ '' =~ $3 ]]
      # shellcheck disable=SC2319 # 2 is the status of [[ for an invalid expression
      if (($? == 2)); then echo "invalid regular expression: $3" >&2; fi
      return 1
      ;;
    *) [[ $2 == "$3" ]] ;;
  esac
}

_kit_title() {
  case $2 in
    partial) echo "$1 does not contain text" ;;
    regexp) echo "regular expression does not match $1" ;;
    *) echo "$1 differs" ;;
  esac
}

_kit_prepare
