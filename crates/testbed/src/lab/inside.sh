# Runs a command in the virtual machine whose directory this file lies in: sh DIRECTORY/inside WORD...
# The machine's root is the one of its host. So the words go there in a file, which the first process of the machine runs when it reads the
# file's name from its console; what the command prints and its status come back in files.
here=${0%/*}
# No name comes twice: a process with the same number may have been killed, and what it asked for be answered only now.
job=$(mktemp "$here/jobs/$$-XXXXXXXX") || exit 125
job=${job##*/}
rm -f "$here/out/$job".*
trap 'rm -f "$here/jobs/$job" "$here/out/$job".*' EXIT
trap 'exit 129' HUP INT TERM

# Whether the process is there, and not merely not yet collected by its parent.
is_alive() {
    { read -r state <"/proc/$1/stat"; } 2>/dev/null || return 1
    case $state in
    *') Z '*) return 1 ;;
    esac
}
check_alive() {
    [ ! -s "$here/pid" ] || { read -r machine <"$here/pid" && is_alive "$machine"; } && return
    echo "the virtual machine has ended; its console says:" >&2
    { grep -m 1 'Kernel panic' "$here/console.log" || tail -n 4 "$here/console.log"; } >&2
    exit 125
}
for word; do
    case $word in
    *\'*) word=$(printf '%s\n' "$word" | sed "s/'/'\\\\''/g") ;;
    esac
    printf "set -- \"\$@\" '%s'\n" "$word"
done >"$here/jobs/$job"
echo 'exec "$@"' >>"$here/jobs/$job"

until [ -s "$here/out/ready" ]; do
    check_alive
    sleep 0.01
done
# Opened for reading, too: where nobody reads any more, opening it for writing alone would wait for ever.
echo "$job" 1<>"$here/console"
# While it is flooded with frames, User-Mode Linux may lose the signal that its console has input; the next input wakes it. So an empty
# line follows about every second.
looks=0
until [ -s "$here/out/$job.status" ]; do
    check_alive
    looks=$((looks + 1))
    [ $((looks % 100)) -ne 0 ] || echo 1<>"$here/console"
    sleep 0.01
done
cat "$here/out/$job.out"
cat "$here/out/$job.err" >&2
read -r status <"$here/out/$job.status"
exit "$status"
