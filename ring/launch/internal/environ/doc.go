// Package environ reads the environment variables that launchers and schedulers set.
//
// [Vars] is the environment. Packages place and hosts interpret it: place finds a
// process's rank, hosts finds the hosts of an allocation. What the two share is here:
// the lookup, the lists of host names that Slurm writes ([ExpandNodes]), and whether one
// launcher runs inside another ([Nested]).
package environ
