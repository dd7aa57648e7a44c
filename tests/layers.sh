#!/bin/sh
# tests/layers.sh: the law of includes: a file includes only headers that stand above it in Makefile.am's lists, and
# folders on one floor never include each other. Names the culprit.
set -eu
cd "${STEPLINE_SOURCE:-$(dirname "$0")/..}"

# Every source in building order, one a line, from the *_sources lists.
order=$(awk '/^[a-z]+_sources *=/ { list = 1 }
    list { line = $0; sub(/^[a-z]+_sources *= */, "", line); more = line ~ /\\$/; sub(/\\$/, "", line)
           n = split(line, words, /[ \t]+/); for (i = 1; i <= n; i++) if (words[i] != "") print words[i]
           if (!more) list = 0 }' Makefile.am)
printf '%s\n' "$order" | awk '
    BEGIN { brothers["sim"] = 2; brothers["topo"] = 2; brothers["models"] = 2; brothers["plots"] = 9
            brothers["validation"] = 9; bad = 0 }
    { place[$0] = NR; file[NR] = $0 }
    END {
        for (i = 1; i <= NR; i++) {
            path = file[i]; files++; split(path, parts, "/"); own = parts[1]; line = 0
            while ((got = (getline text < path)) > 0) {
                line++
                if (text !~ /^#include "/) continue
                split(text, quoted, "\""); header = quoted[2]; includes++
                if (header == "config.h" || header == "library-data.h") continue
                split(header, where, "/"); other = where[1]
                if (!(header in place))
                    { print path ":" line ": " header " is not in Makefile.am"; bad++ }
                else if (place[header] > i)
                    { print path ":" line ": " header " stands below it in Makefile.am"; bad++ }
                else if (own != other && own in brothers && brothers[own] == brothers[other])
                    { print path ":" line ": " own "/ and " other "/ are brothers"; bad++ }
            }
            if (got < 0) { print path ": cannot be read"; bad++ }
            close(path)
        }
        print files " files, " includes " includes, " bad " against the law"
        exit bad > 0 || files < 50
    }'

# Every C file of the house is in a list.
missing=0
for path in base/*.[ch] sim/*.[ch] topo/*.[ch] models/*.[ch] imports/*.[ch] machines/*.[ch] coll/*.[ch] step/*.[ch] \
    timeline/*.[ch] scenarios/*.[ch] plots/*.[ch] validation/*.[ch] cli/*.[ch]; do
    [ -e "$path" ] || continue
    printf '%s\n' "$order" | grep -qx "$path" || { echo "$path: is not in Makefile.am"; missing=1; }
    head -n 1 "$path" | grep -q "^// $path: " || { echo "$path:1: does not say what the file is for"; missing=1; }
done
exit $missing
