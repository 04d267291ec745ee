// Package remote copies records that lie elsewhere to this host: objects of s3://bucket/prefix, and https://… files.
//
//	names ──► listing ──► input.cache_size ──► copies of what is missing ──► paths
//
// An object is copied once a host, so that each reader of records stays a reader of files. The path of a copy ends with
// bucket and key. Its folder is named by URL, ETag and size: an object that is replaced becomes another copy. A copy has
// its name when it is whole. [Store.Files] is the way in.
//
// Faults of a server (5xx, resets, silence) are tried again from the byte reached, five times; then the code is
// exitcode.IO. A name that means nothing is exitcode.NoInput, a refusal exitcode.Auth, an object that is replaced amid
// its copy exitcode.BadData. Neither messages nor names of copies have a secret.
package remote
