# shellcheck shell=sh
# Defines fleet_take, which prints a tar archive of $1 bytes from stdin and takes no byte more.
# `head -c` of BusyBox and BSD would also take some of the bytes after the archive.

fleet_take() {
  if dd iflag=fullblock count=0 </dev/null >/dev/null; then
    dd iflag=fullblock bs=512 count="$(($1 / 512))"
  else
    # Without fullblock, a short read from the connection counts as a whole block.
    dd bs=1 count="$1"
  fi 2>/dev/null
}
