#!/usr/bin/env bash
# Install the program of this clone: a virtual environment in .venv, the launcher core/cli,
# and a symlink to it in a directory on PATH. With --name, also make an installation.
# Running it again is safe. No file that git tracks changes.
set -euo pipefail

usage() {
  cat <<'TEXT'
Usage: install.sh [options]

  --name NAME      Also make an installation: a folder for your own commands, with
                   the program's name NAME. An existing installation is used.
  --dir DIR        The folder of that installation (default:
                   ${XDG_DATA_HOME:-~/.local/share}/NAME).
  --bin-dir DIR    Directory for the symlinks (default: that of the last call, or
                   /usr/local/bin if you may write to it, otherwise ~/.local/bin).
  --add-to-path    Add that directory to PATH, and completion with Tab, in the
                   startup file of your shell. Without this option, a question
                   on the terminal offers both.
  --uninstall      Remove the symlink, the man page, the launcher and completion
                   of the clone, and .venv, unless an installation needs it.
                   Installations stay; to remove one: NAME self uninstall
  -h, --help       Show this help.

Environment variables:
  PYTHON           The Python interpreter to use, 3.11 or newer (default: the
                   first suitable one on PATH).
  BIN_DIR          The default of --bin-dir.
TEXT
}

say() { printf '%s\n' "$*"; }

# Show what happens now. The line stays on a terminal until the next one.
progress() {
  if [[ -t 2 && ${TERM:-dumb} != dumb ]]; then printf '\r\033[K%s' "$*" >&2; fi
}

fail() {
  progress
  printf 'install.sh: %s\n' "$1" >&2
  exit "${2:-1}"
}

needs_value() { [[ $# -ge 2 && -n $2 ]] || fail "$1 needs a value; see install.sh --help" 2; }

own_name=
own_dir=
bin_dir=${BIN_DIR:-}
add_to_path=no
action=install
while [[ $# -gt 0 ]]; do
  case $1 in
    --name) needs_value "$@" && own_name=$2 && shift ;;
    --dir) needs_value "$@" && own_dir=$2 && shift ;;
    --bin-dir) needs_value "$@" && bin_dir=$2 && shift ;;
    --add-to-path) add_to_path=yes ;;
    --uninstall) action=uninstall ;;
    -h | --help) usage && exit 0 ;;
    *) fail "unknown option $1; see install.sh --help" 2 ;;
  esac
  shift
done
case $own_name in
  '') [[ -z $own_dir ]] || fail "--dir needs --name" 2 ;;
  cli) fail "cli is the program of this clone; choose another name" 2 ;;
  *)
    [[ $own_name =~ ^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$ && $own_name != lib && $own_name != cli.json &&
      $own_name != schema ]] || fail "$own_name cannot be the name of a program; use letters, digits and ._-" 2
    [[ $action == install ]] || fail "to remove the installation $own_name: $own_name self uninstall" 2
    ;;
esac

unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE # of another repository, as in a hook of git
root=$(CDPATH='' cd -- "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)
venv=$root/.venv
former=$venv-former # the environment in whose place a new one is being made
home=${HOME:-$(cd ~ && pwd)}
mark="# added by install.sh of $root"

restore_former() {
  if [[ -e $former || -L $former ]]; then rm -rf -- "$venv" && mv -- "$former" "$venv"; fi
}

trap restore_former EXIT
restore_former # after a call that was killed

default_bin_dir() {
  # `self update` calls this script without options.
  if [[ -f $venv/cli-host-bin-dir ]]; then
    cat "$venv/cli-host-bin-dir"
  elif [[ -d /usr/local/bin && -w /usr/local/bin ]]; then
    say /usr/local/bin
  else
    say "$home/.local/bin"
  fi
}

[[ -n $bin_dir ]] || bin_dir=$(default_bin_dir)
[[ $bin_dir == /* ]] || bin_dir=$PWD/$bin_dir

# Print the directory of man pages for programs in bin_dir, or nothing if it is unknown.
man_dir() {
  case $bin_dir in
    "$home/bin") say "$home/.local/share/man/man1" ;;
    ?*/bin) say "${bin_dir%/bin}/share/man/man1" ;;
  esac
}

# From here on, the functions are about the program $1, whose launcher is $2.
switch_to() {
  name=$1
  launcher=$2
  link=$bin_dir/$name
  page=$venv/share/man/man1/$name.1
  page_link=$(man_dir)/$name.1
}

is_ours() { [[ -L $link && ($(readlink "$link") == "$launcher" || $link -ef $launcher) ]]; }
is_our_page() { [[ -L $page_link && $(readlink "$page_link") == "$page" ]]; }

# Return whether the link $1 points to the file $2 of a removed checkout.
is_of_removed_checkout() {
  local target
  target=$(readlink "$1") && [[ $target == /*/"$2" && ! -e ${target%/"$2"} ]]
}

find_python() {
  local candidate
  for candidate in ${PYTHON:+"$PYTHON"} python3 python3.14 python3.13 python3.12 python3.11 python; do
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      "$candidate" -c 'import sys; print(sys.executable)'
      return
    fi
  done
  fail "Python 3.11 or newer was not found; install it, or set PYTHON to its path"
}

# -I: a file types.py or pip.py in the caller's directory must not take a module's place.
make_venv() {
  local python
  if "$venv/bin/python" -I -m pip --version >/dev/null 2>&1; then
    return
  fi
  python=$(find_python)
  progress "Making $venv with $python …"
  if [[ -e $venv || -L $venv ]]; then mv -- "$venv" "$former"; fi
  "$python" -I -m venv "$venv" || fail "cannot create $venv; on Debian: apt install python3-venv"
  cp -p -- "$former"/cli-host-* "$venv/" 2>/dev/null || true # such as the other installations
}

install_package() {
  local output
  progress "Installing the package and its requirements …"
  output=$(
    # With one of these, pip would install elsewhere, less or nothing.
    unset PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_PYTHON PIP_NO_DEPS PIP_DRY_RUN
    "$venv/bin/python" -I -m pip install --disable-pip-version-check --no-input "$root" 2>&1
  ) || {
    progress
    printf '%s\n' "$output" >&2
    fail "pip could not install the package; its output is above"
  }
  # `self update` compares this commit with the newest one.
  if ! git -C "$root" rev-parse --verify --quiet HEAD >"$venv/cli-host-commit" 2>/dev/null; then
    rm -f -- "$venv/cli-host-commit"
  fi
}

is_launcher() { grep -qs 'host.__main__' "$launcher"; }

# Return whether another file has the path of the symlink.
is_taken() {
  [[ -e $link || -L $link ]] && ! is_ours && ! is_of_removed_checkout "$link" "core/$name"
}

# Set own_dir to the absolute path of the installation. Fail before any change if it cannot be made.
check_own() {
  local data=${XDG_DATA_HOME:-}
  [[ $data == /* ]] || data=$home/.local/share
  [[ -n $own_dir ]] || own_dir=$data/$own_name
  [[ $own_dir == /* ]] || own_dir=$PWD/$own_dir
  own_dir=${own_dir%/}
  if [[ -e $own_dir || -L $own_dir ]]; then
    [[ -f $own_dir/core/cli.json ]] || fail "$own_dir exists and is not an installation; use --dir"
  fi
  [[ ! $own_dir -ef $root ]] || fail "$own_dir is the clone; use --dir for the folder of your commands"

  switch_to "$own_name" "$own_dir/core/$own_name"
  if [[ -e $launcher ]] && ! is_launcher; then
    fail "$launcher exists and is not a launcher; move that file, or use --name"
  fi
  if is_taken; then
    fail "$link exists and is not a link to $launcher; remove it, or use --name or --bin-dir"
  fi
}

write_launcher() {
  "$venv/bin/python" -I -m host --safe self launcher "$launcher"
}

link_launcher() {
  local former
  mkdir -p "$bin_dir" || fail "cannot create $bin_dir; use --bin-dir"
  ln -sfn "$launcher" "$link" || fail "$bin_dir is not writable; use --bin-dir"
  for former in "$bin_dir"/*; do # links to a renamed launcher
    if [[ -L $former && ! -e $former && $(readlink "$former") == "$root"/core/* ]]; then
      say "Removing $former: its target $(readlink "$former") no longer exists"
      rm -f -- "$former"
    fi
  done
}

install_program() {
  make_venv
  install_package
  rm -rf -- "$former"
  printf '%s\n' "$bin_dir" >"$venv/cli-host-bin-dir"
  write_launcher
  if is_taken; then
    # Another program may be called cli, too.
    [[ -n $own_name ]] || say "$link is another program, so this one is not linked; see --bin-dir"
  else
    link_launcher
    link_page
  fi
}

# Make the installation, or use it. Its output ends with a line `next: NAME …`.
make_own() {
  local output
  progress "Making $own_dir …"
  # With the link, `self init` makes no other one.
  link_launcher
  output=$(
    unset CLI_DIR GLOBAL_CONFIG_FILE
    PATH=$bin_dir:${PATH-} CLI_NO_INPUT=1 "$root/core/cli" self init "$own_dir" --name "$name" 2>&1
  ) || {
    [[ -e $launcher ]] || rm -f -- "$link"
    progress
    printf '%s\n' "$output" >&2
    fail "the installation could not be made; the reason is above"
  }
  next=${output##*$'\n'}
  next=${next#*: "$name"}
  write_launcher
  link_page
}

# The man page is optional: skip it if it cannot be linked or another file has its path.
link_page() {
  local former
  [[ -f $page && $page_link == */man1/* ]] || return 0
  if [[ ! -e $page_link && ! -L $page_link ]] || is_our_page ||
    is_of_removed_checkout "$page_link" ".venv/share/man/man1/$name.1"; then
    { mkdir -p "$(man_dir)" && ln -sfn "$page" "$page_link"; } 2>/dev/null || return 0
  fi
  for former in "$(man_dir)"/*.1; do
    if [[ -L $former && $(readlink "$former") == "$venv"/* && ! -e $bin_dir/$(basename "$former" .1) ]]; then
      rm -f -- "$former"
    fi
  done
}

zsh_file=${ZDOTDIR:-$home}/.zshrc
fish_file=${XDG_CONFIG_HOME:-$home/.config}/fish/config.fish
bash_file=$home/.bashrc

start_up_file() {
  case ${SHELL##*/} in
    zsh) say "$zsh_file" ;;
    fish) say "$fish_file" ;;
    *) say "$bash_file" ;;
  esac
}

# Quote $1 in double quotes for bash, zsh and fish alike.
quoted() { printf '"%s"' "$(printf '%s' "$1" | sed 's/[\\"$`]/\\&/g')"; }

path_line() {
  case ${SHELL##*/} in
    fish) say "set -gx PATH $(quoted "$bin_dir") \$PATH" ;;
    *) say "export PATH=$(quoted "$bin_dir"):\"\$PATH\"" ;;
  esac
}

is_on_path() {
  case :${PATH-}: in
    *":$bin_dir:"*) return 0 ;;
    *) return 1 ;;
  esac
}

# Print the user's shell if it can complete the program's commands, but does not yet.
uncompleted_shell() {
  local shell=${SHELL##*/}
  case $shell in
    bash | zsh) grep -qsF -- "# completion of $name" "$(start_up_file)" || say "$shell" ;;
    fish) [[ -e ${fish_file%/*}/completions/$name.fish || -e ${fish_file%/*}/conf.d/$name.fish ]] || say fish ;;
  esac
}

# Return whether a question can be asked. As in the program, CI and CLI_NO_INPUT forbid it.
may_ask() {
  local value
  [[ -t 0 && -t 2 ]] || return 1
  for value in "${CI:-}" "${CLI_NO_INPUT:-}"; do
    case $value in
      '' | 0 | [Ff][Aa][Ll][Ss][Ee] | [Nn][Oo] | [Oo][Ff][Ff]) ;;
      *) return 1 ;;
    esac
  done
}

# Ask whether the startup file may get the line for PATH, and completion.
is_agreed() {
  local answer
  printf 'Add %s to %s? [Y/n] ' "$1" "$(start_up_file)" >&2
  read -r answer || return 1
  [[ -z $answer || $answer == [Yy] || $answer == [Yy][Ee][Ss] ]]
}

# Return whether new shells have bin_dir on PATH.
is_in_start_up_file() { grep -qsF -- "$(path_line) $mark" "$(start_up_file)"; }

add_to_path() {
  local file
  file=$(start_up_file)
  mkdir -p "$(dirname "$file")"
  printf '\n%s %s\n' "$(path_line)" "$mark" >>"$file"
}

# Offer to change the startup file, and print where the program is.
finish() {
  local shell offers=() installed="Installed: $link" again=
  is_taken && installed="Installed: $launcher"
  shell=$(uncompleted_shell)
  is_on_path || is_in_start_up_file || offers+=("$bin_dir to PATH")
  [[ -z $shell ]] || offers+=("completion with Tab")
  if [[ ${#offers[@]} -gt 0 && $add_to_path == no ]] && may_ask; then
    if is_agreed "${offers[0]}${offers[1]:+ and ${offers[1]}}"; then add_to_path=yes; fi
  fi
  if [[ ${#offers[@]} -gt 0 && $add_to_path == yes ]]; then
    is_on_path || is_in_start_up_file || add_to_path
    [[ -z $shell ]] || "$launcher" self completion "$shell" --install >/dev/null
    installed+="; open a new shell to use it as $name"
  elif is_on_path; then
    :
  elif is_in_start_up_file; then
    installed+="; open a new shell to use it as $name"
  else
    [[ -z $own_name ]] || again=" --name $name --dir $(quoted "$own_dir")"
    installed+=", not on PATH; to change that: bash $(quoted "$root/install.sh")$again"
    installed+=" --bin-dir $(quoted "$bin_dir") --add-to-path"
  fi
  say "$installed"
}

# Print one command to try. It works in this shell, in every directory.
suggest() {
  local start
  printf -v start %q "$launcher"
  if [[ $(type -P "$name") -ef $launcher ]]; then start=$name; fi
  say "Next: $start$next"
}

# Remove completion of this program from the startup files.
forget_completion() {
  local shell
  is_launcher || return 0
  for shell in bash zsh fish nushell elvish; do
    "$launcher" self completion "$shell" --uninstall >/dev/null 2>&1 || true
  done
}

forget_path() {
  local file target
  for file in "$bash_file" "$zsh_file" "$fish_file"; do
    grep -qsF -- "$mark" "$file" || continue
    target=$(readlink -f "$file")
    cp -p "$target" "$target.cli-new"
    grep -vF -- "$mark" "$target" >"$target.cli-new" || true
    mv "$target.cli-new" "$target"
    say "Removed the PATH line from $file"
  done
}

# Print the launchers in core/, one for each name under which this checkout is installed.
launchers() { grep -lsF 'host.__main__' "$root"/core/* 2>/dev/null || true; }

# Print the other installations that are recorded in this environment and still use it.
siblings() {
  local sibling
  [[ -f $venv/cli-host-installations ]] || return 0
  while IFS= read -r sibling; do
    if [[ $sibling != "$root" ]] && grep -qsF -- "$venv/" "$sibling"/core/*; then say "$sibling"; fi
  done <"$venv/cli-host-installations"
}

switch_to cli "$root/core/cli"
if [[ $action == uninstall ]]; then
  if is_ours; then rm -f -- "$link" && say "Removed $link"; fi
  if is_our_page; then rm -f -- "$page_link" && say "Removed $page_link"; fi
  forget_completion
  if is_launcher; then rm -f -- "$launcher"; fi
  others=$(launchers && siblings)
  if [[ -n $others ]]; then
    say "Uninstalled $name. Its packages stay, because they are used by: ${others//$'\n'/, }"
    exit 0
  fi
  rm -f -- "$root/cli.lock" "$root/cli.lock.index"
  rm -rf -- "$venv"
  forget_path
  say "Uninstalled. Your commands, config and plugins are still in $root"
  exit 0
fi

if [[ -e $launcher ]] && ! is_launcher; then
  fail "$launcher exists and is not a launcher; move that file"
fi
if [[ -n $own_name ]]; then
  check_own
  switch_to cli "$root/core/cli"
fi
install_program
next=" demo hello"
if [[ -n $own_name ]]; then
  switch_to "$own_name" "$own_dir/core/$own_name"
  make_own
fi
progress
finish
suggest
