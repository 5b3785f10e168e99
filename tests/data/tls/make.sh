#!/bin/sh
# Makes the certificates of this folder anew: two authorities, and two certificates of the first one for the
# same key, of 127.0.0.1 and of another host. They are for tests on loopback only: the key is public. They are valid
# from 2020 to 2119, whatever clock a test runs under.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/ca.cnf" <<END
[ca]
default_ca = d
[d]
dir = $work
database = $work/index
new_certs_dir = $work
rand_serial = yes
default_md = sha256
policy = p
unique_subject = no
[p]
commonName = supplied
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
END
: >"$work/index"
key() { openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out "$1"; }
sign() { # key, name, output, further words of openssl ca
  openssl req -new -key "$1" -subj "/CN=test $2" -out "$work/request.pem"
  out=$3
  shift 3
  openssl ca -batch -notext -config "$work/ca.cnf" -startdate 20200101000000Z -enddate 21191231000000Z \
    -in "$work/request.pem" -out "$out" "$@"
}
for name in ca other-ca; do
  key "$work/$name.key"
  sign "$work/$name.key" "authority $name" $name.pem -selfsign -keyfile "$work/$name.key" -extensions authority
done
key server.key
for name in server:IP:127.0.0.1,DNS:localhost elsewhere:DNS:elsewhere.test; do
  printf 'subjectAltName = %s\n' "${name#*:}" >"$work/names"
  sign server.key "${name%%:*}" "${name%%:*}.pem" -cert ca.pem -keyfile "$work/ca.key" -extfile "$work/names"
done
