# shellcheck shell=sh disable=SC2016
# Goes on in bash, which runs the text on stdin up to the first NUL: see unpack.sh and elevate.sh.
# (--norc: without it, bash reads ~/.bashrc if sshd started it.)
exec bash --norc -c 'IFS= read -r -d "" stage && eval "$stage"'
