// What go-git needs of OpenPGP, without it: .ci/release builds with this module in its place.
module github.com/ProtonMail/go-crypto

go 1.26
