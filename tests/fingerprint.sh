#!/bin/sh
# tests/fingerprint.sh: the fingerprints of tests/data/fingerprints.txt, whatever the compiler, optimisation, queue and
# shortcut. A change of the simulation's meaning changes them: then say so in the commit that rewrites the file.
set -eu
failed=0 checked=0
while read -r wanted words; do
    case $wanted in '#'* | '') continue ;; esac
    case $words in
    run*) variants="- --set:simulate.queue=heap --set:simulate.shortcuts=no" ;;
    *) variants="- --queue:heap --no-shortcuts" ;;
    esac
    for variant in $variants; do
        variant=$(echo "$variant" | tr ':-' ' -')
        [ "$variant" != - ] || variant=
        # shellcheck disable=SC2086 # lists of words
        found=$("$STEPLINE" $words $variant --json | sed -n 's/.*"fingerprint" : "\([0-9a-f]*\)".*/\1/p')
        checked=$((checked + 1))
        if [ "$found" != "$wanted" ]; then
            echo "stepline $words $variant: found $found, wanted $wanted"
            failed=$((failed + 1))
        fi
    done
done <"$STEPLINE_SOURCE/tests/data/fingerprints.txt"
echo "$checked fingerprints, $failed differ"
[ "$checked" -gt 0 ] && [ "$failed" = 0 ]
