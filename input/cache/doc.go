// Package cache keeps the parsed records of text files in one binary file, whose form
// FORMAT.md shows. Reading a record from it is copying.
//
// A cache has the blocks of its text: the same records in the same order, in blocks of the
// same numbers of records. So an epoch goes through the records in the same order, whether
// they come from the text or from the cache, and a run may change from one to the other at
// any record without changing a bit.
//
// [Find] opens the cache of files if there is one that fits: of this version, of these files
// with their sizes and times, and of the same key, which says how lines are parsed. [Make]
// makes one. A cache appears under its name when it is whole. [Once] has one process of a
// host make it while others wait; it removes what a killed maker has left. [Prune] removes
// caches of files that are gone.
//
// A record that is bad is kept with what is wrong with it, so that it is an error when it is
// due, as of the text.
package cache
