#!/usr/bin/env bash
# Makes the certificates of the tests anew: keys on P-256 and an authority that nobody trusts, whose key is thrown away. They
# are good from 2020 to 2120, so that no clock of a test machine ends them; `expired.pem` has been over since 2021, and
# `stranger.pem` is another authority. The pass phrase of `client.locked.key` is "not-a-secret".
set -eu
cd "$(dirname "$0")"
dir=$(mktemp -d); : > $dir/index; echo 01 > $dir/serial
cat > $dir/cnf <<C
[ca]
default_ca=d
[d]
dir=$dir
database=$dir/index
serial=$dir/serial
new_certs_dir=$dir
policy=p
default_md=sha256
email_in_dn=no
unique_subject=no
[p]
commonName=supplied
[req]
distinguished_name=dn
[dn]
[authority]
basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign
subjectKeyIdentifier=hash
[server]
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth
subjectAltName=DNS:localhost,DNS:peer.holdfast.test,IP:127.0.0.1
[client]
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=clientAuth
C
for n in authority stranger server client; do
  openssl ecparam -name prime256v1 -genkey -noout | openssl pkcs8 -topk8 -nocrypt -out $n.key
  openssl req -new -config $dir/cnf -key $n.key -subj "/CN=holdfast test $n" -out $dir/$n.csr
done
from="-startdate 20200101000000Z -enddate 21200101000000Z"
for n in authority stranger; do
  openssl ca -batch -notext -config $dir/cnf -selfsign -keyfile $n.key -in $dir/$n.csr $from -extensions authority -out $n.pem
done
for n in server client; do openssl ca -batch -notext -config $dir/cnf -cert authority.pem -keyfile authority.key -in $dir/$n.csr $from -extensions $n -out $n.pem; done
openssl ca -batch -notext -config $dir/cnf -cert authority.pem -keyfile authority.key -in $dir/server.csr -startdate 20200101000000Z -enddate 20210101000000Z -extensions server -out expired.pem
openssl pkcs8 -topk8 -in client.key -passout pass:not-a-secret -v2 aes-256-cbc -out client.locked.key
rm -rf $dir authority.key stranger.key
