# shellcheck shell=bash
# Colours for messages that bash, zsh and dash scripts write to stderr.
#
# Variables, each an escape sequence or empty. The first rule that applies decides, as
# for the program itself: empty if NO_COLOR is not empty or TERM is dumb; escape
# sequences if FORCE_COLOR or CLICOLOR_FORCE is neither empty nor 0; escape sequences
# if stderr is a terminal; otherwise empty.
#   NC RESET                                 back to normal
#   RED GREEN YELLOW BLUE MAGENTA CYAN GRAY WHITE
#   LIGHT_RED LIGHT_GREEN LIGHT_YELLOW LIGHT_BLUE LIGHT_MAGENTA LIGHT_CYAN LIGHT_GRAY
#   BOLD DIM ITALIC UNDERLINE
#
# A variable that is already set keeps its value: assigning to one from the
# environment would change it for every program that the script starts. The
# libraries themselves use private names (__cli_…), so such a value never affects
# their own output.

# A literal escape character: dash has no $'\033', and printf in a command
# substitution would fork.
__cli_esc=''

# Status 0 if escape sequences may be written to stderr now.
__cli_colors_allowed() {
  if [ -n "${NO_COLOR-}" ] || [ "${TERM-}" = dumb ]; then
    return 1
  fi
  case "${FORCE_COLOR:-0},${CLICOLOR_FORCE:-0}" in
    0,0) [ -t 2 ] && [ -n "${TERM+x}" ] ;;
  esac
}

if __cli_colors_allowed; then
  __cli_csi="${__cli_esc}["
else
  __cli_csi=''
fi
: "${NC=${__cli_csi:+${__cli_csi}0m}}" "${RESET=${__cli_csi:+${__cli_csi}0m}}"
: "${BOLD=${__cli_csi:+${__cli_csi}1m}}" "${DIM=${__cli_csi:+${__cli_csi}2m}}"
: "${ITALIC=${__cli_csi:+${__cli_csi}3m}}" "${UNDERLINE=${__cli_csi:+${__cli_csi}4m}}"
: "${RED=${__cli_csi:+${__cli_csi}31m}}" "${LIGHT_RED=${__cli_csi:+${__cli_csi}91m}}"
: "${GREEN=${__cli_csi:+${__cli_csi}32m}}" "${LIGHT_GREEN=${__cli_csi:+${__cli_csi}92m}}"
: "${YELLOW=${__cli_csi:+${__cli_csi}33m}}" "${LIGHT_YELLOW=${__cli_csi:+${__cli_csi}93m}}"
: "${BLUE=${__cli_csi:+${__cli_csi}34m}}" "${LIGHT_BLUE=${__cli_csi:+${__cli_csi}94m}}"
: "${MAGENTA=${__cli_csi:+${__cli_csi}35m}}" "${LIGHT_MAGENTA=${__cli_csi:+${__cli_csi}95m}}"
: "${CYAN=${__cli_csi:+${__cli_csi}36m}}" "${LIGHT_CYAN=${__cli_csi:+${__cli_csi}96m}}"
: "${GRAY=${__cli_csi:+${__cli_csi}90m}}" "${LIGHT_GRAY=${__cli_csi:+${__cli_csi}37m}}"
: "${WHITE=${__cli_csi:+${__cli_csi}97m}}"
