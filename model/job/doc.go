// Package job reads job files: what is trained, on which records, and how.
//
// A [Config] holds the values of all keys. [Load] reads a Config from a built-in job or a file,
// then from the RINGTRAIN_ variables of the environment, then from the --set options of the
// command line. A later source overrides an earlier one:
//
//	built-in job or file ─► environment ─► --set ─► Config.Check ─► *Config, or all faults at once
//
// # Keys
//
// A key is the dotted path of a field of Config: "batch:" under "input:" is the key input.batch.
// The struct tags of the fields are the only list of keys; see [Config.Options]. A list of groups
// has items, which a key finds by name or by number: model.layers.c1.conv2d.filters. The file
// list.go describes the two forms of such lists.
//
// # Errors
//
// Load reports all faults of a job at once, each with its place: the line and column of the file,
// the variable, or the option. Load leaves out a fault that may follow from another one. Faults
// carry exitcode.Usage; a missing job file carries exitcode.NoInput.
//
// Some faults of lists show only when the records are open. [Config.Locate] adds their places.
package job
