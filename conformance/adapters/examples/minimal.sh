#!/bin/sh
# The smallest adapter, in a POSIX shell: it reads the sessions of one store, and no more.
#
# The store is a toy: ~/.toy/ID.jsonl has a line for the directory, then one for each thing said.
# Copy this file, and put your own reader in place of `transcript`. Texts stay as they are in
# JSON, so that nothing has to be unpacked and packed again. Nothing but sed and awk is needed.

text() { # a field of the request that is text
  printf '%s\n' "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"
}

transcript() { # the session in the normalised model; fails at a line that is not whole
  awk -v id="$1" '
    NR == 1 && /^[{]"cwd": *".*"[}]$/ {
      sub(/^[{]"cwd": */, ""); sub(/[}]$/, ""); cwd = $0; next
    }
    /^[{]"who": *"user", *"at": *"[^"]*", *"says": *".*"[}]$/ { kind = "User"; author = "human" }
    /^[{]"who": *"agent", *"at": *"[^"]*", *"says": *".*"[}]$/ { kind = "Agent"; author = "model" }
    kind == "" { bad = 1; exit }
    {
      sub(/^[{]"who": *"[a-z]*", *"at": */, ""); at = substr($0, 1, index($0, ",") - 1)
      sub(/^"[^"]*", *"says": */, ""); sub(/[}]$/, "")
      all = all comma "{\"kind\":\"" kind "Message\",\"id\":\"" id "-" NR "\",\"author\":\"" author
      all = all "\",\"at\":" at ",\"content\":[{\"type\":\"text\",\"text\":" $0 "}]}"
      comma = ","; kind = ""
    }
    END {
      if (bad || cwd == "") exit 1
      printf "{\"agent\":\"toy\",\"session_id\":\"%s\",\"cwd\":%s,\"messages\":[", id, cwd
      print all "]}"
    }' "$2"
}

while IFS= read -r request; do
  seq=$(printf '%s\n' "$request" | sed 's/.*"seq":\([0-9]*\).*/\1/')
  case $(text cmd) in
    start)
      echo "{\"seq\":$seq,\"reply\":\"ok\",\"protocol\":1,\"adapter\":{\"name\":\"minimal-sh\"," \
        '"version":"1.0","language":"POSIX sh"},"stores":{"toy":{"read":true}}}'
      ;;
    stop) exit 0 ;;
    run)
      id=$(text session_id)
      file="$(text home)/.toy/$id.jsonl"
      if [ ! -f "$file" ]; then
        error='"stage":"find","message":"there is no such session"'
        echo "{\"seq\":$seq,\"reply\":\"error\",$error}"
      elif found=$(transcript "$id" "$file"); then
        printf '{"seq":%s,"reply":"ok","transcript":%s}\n' "$seq" "$found"
      else
        error='"stage":"read","message":"a line is not whole"'
        echo "{\"seq\":$seq,\"reply\":\"error\",$error}"
      fi
      ;;
  esac
done
