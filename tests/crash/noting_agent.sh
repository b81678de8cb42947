#!/bin/sh
# An agent that notes that it began and what it was told, in the folder that it is given, and then does what the last
# line of its prompt says: a name, and any of `write FILE`, `sleep SECONDS`, `wait` (until there is a note `go`),
# `spend` (tell of usage) and `fail`.
notes=$1
prompt=$(cat)
set -- $(printf '%s\n' "$prompt" | tail -n 1)
name=$1
echo $$ >>"$notes/$name.began"
printf '%s' "$prompt" >"$notes/$name.prompt"
while shift && [ $# -gt 0 ]; do
    case $1 in
    write) shift && echo "$name" >"$1" ;;
    sleep) shift && sleep "$1" ;;
    wait) while [ ! -e "$notes/go" ]; do sleep 0.05; done ;;
    spend) echo '{"kind": "usage", "key": "all", "input_tokens": 90, "output_tokens": 10, "cost_usd": 0.5}' ;;
    fail) echo "$name is broken" >&2 && exit 1 ;;
    esac
done
echo "done: $name"
