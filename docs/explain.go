package docs

import (
	"regexp"
	"strings"

	"ringtrain/ring/exitcode"
)

// explanations ties the messages that end a job to the entries of when-it-breaks.md. An entry
// stands behind its anchor, and its heading is an example of the message. The first pattern that
// matches counts.
var explanations = []struct {
	anchor  string
	pattern *regexp.Regexp
}{
	{"no-restart-left", regexp.MustCompile(`no restart is left`)},
	{"crash-loop", regexp.MustCompile(`gave up: .*in a row (without|within)`)},
	{"stopped", regexp.MustCompile(`stopped by (a )?signal|ranks were killed after signal`)},
	{"time-limit", regexp.MustCompile(`not done after .*--timeout`)},
	{"unknown-launcher", regexp.MustCompile(`no variable (says where rank 0 is|has the world size)`)},
	{"login-text", regexp.MustCompile(` printed ".*" into the login`)},
	{"host-lost", regexp.MustCompile(`host \S+( \S+)? is lost: |, by which it was reached, is lost: `)},
	{"host-silent", regexp.MustCompile(`host \S+ and the launcher did not hear each other for `)},
	{"host-unreachable", regexp.MustCompile(`host \S+ cannot be reached|the agent did not start|ringtrain: not (found|executable) on host`)},
	{"bare-chroot", regexp.MustCompile(`want /(proc|dev) mounted`)},
	{"guard", regexp.MustCompile(`the guard of the launcher has ended`)},
	{"no-port", regexp.MustCompile(`no free port`)},
	{"open-files", regexp.MustCompile(`open files are needed`)},
	{"program", regexp.MustCompile(`no job or program |start rank \d+: program`)},
	{"slots", regexp.MustCompile(`ranks? (is|are) asked for`)},
	{"missing", regexp.MustCompile(`missing after .*want \d+ workers?|gave up waiting for the others`)},
	{"runtime-folder", regexp.MustCompile(`/(tmp|dev/shm)/ringtrain-\d+(/ringtrain)?( belongs| is (a|read)|/| has mode|: )`)},
	{"token", regexp.MustCompile(`not the token of|another token|needs a token|has mode 0\d+, want 0600|is no regular file, want one|token is not|no token`)},
	{"rendezvous-unreached", regexp.MustCompile(`rendezvous at \S+ not reached`)},
	{"other-job", regexp.MustCompile(`answers for job|has no such job|job \S+ has ended|the job has ended|job \S+ is complete`)},
	{"started-twice", regexp.MustCompile(`started twice\?|address already in use`)},
	{"superseded", regexp.MustCompile(`superseded by generation`)},
	{"versions", regexp.MustCompile(`(version|protocol|build) is .*want the same on all ranks|protocol version is \d+, want`)},
	{"ranks-differ", regexp.MustCompile(`want the same on all ranks|ranks differ`)},
	{"worn-keys", regexp.MustCompile(`under one key, and rank \d+ does not reach the rendezvous`)},
	{"rendezvous-lost", regexp.MustCompile(`lost (rank 0 with )?the rendezvous`)},
	{"silent", regexp.MustCompile(`lost rank \d+ \(.*\): silent for`)},
	{"timed-out", regexp.MustCompile(`operation timed out|nothing moved for`)},
	{"changed-bytes", regexp.MustCompile(`bytes were changed on the way`)},
	{"corrupt-frame", regexp.MustCompile(`corrupt frame`)},
	{"no-link", regexp.MustCompile(`link \d+ (->|<-) \d+`)},
	{"not-proved", regexp.MustCompile(`(differs from the model|fails) (by \S+ )?at `)},
	{"not-served", regexp.MustCompile(`version \d+ is not served, and is tried again`)},
	{"keras-file", regexp.MustCompile(`is a model file of Keras, want a SavedModel`)},
	{"not-held", regexp.MustCompile(`export\.if: `)},
	{"not-sound", regexp.MustCompile(`the model of step \d+ is not exported: `)},
	{"not-finite", regexp.MustCompile(`not finite; `)},
	{"diverged", regexp.MustCompile(`replicas diverged`)},
	{"shared-memory", regexp.MustCompile(`shared memory is not available`)},
	{"process-lost", regexp.MustCompile(`lost rank \d+ \(|a worker is gone|it closed the link|without a goodbye`)},
	{"killed", regexp.MustCompile(`killed by signal`)},
	{"rank-failed", regexp.MustCompile(`ended with exit code`)},
	{"object-refused", regexp.MustCompile(`; asked .* with|; asked without credentials|redirected to .*, which is not encrypted|tls: failed to verify`)},
	{"object-lost", regexp.MustCompile(`: tried \d+ times, the last time: `)},
	{"object-changed", regexp.MustCompile(`it was replaced while it was copied`)},
	{"cache-size", regexp.MustCompile(`input\.cache_size: `)},
	{"cache-lost", regexp.MustCompile(`input\.cache: a copy of an earlier start`)},
	{"object-missing", regexp.MustCompile(`no input file s3://|input: (s3|https)://\S+: (404|410) `)},
	{"no-space", regexp.MustCompile(`no space left on device|disk quota exceeded|(checkpoint|export|write|sync) .*input/output error`)},
	{"no-history", regexp.MustCompile(`no history: |want events of a run`)},
	{"folder-in-use", regexp.MustCompile(`is in use by `)},
	{"output-link", regexp.MustCompile(`is a link to \S+(, which is not there|: )|is a file, want a folder`)},
	{"cannot-write", regexp.MustCompile(`cannot write into|: mkdir |: create draft`)},
	{"other-run", regexp.MustCompile(`is of another run: `)},
	{"no-checkpoint", regexp.MustCompile(`no checkpoint (in|or bundle at)`)},
	{"other-shape", regexp.MustCompile(`has shape \[.*\], want `)},
	{"damaged-checkpoint", regexp.MustCompile(`bundle: \S+: `)},
	{"unknown-ops", regexp.MustCompile(`ops not known here: |interpreter: \S+: `)},
	{"read-twice", regexp.MustCompile(`an export parses a column once`)},
	{"label", regexp.MustCompile(`input\.columns has no label|which column is to be predicted|no column can tell the label|may be the label: want|--label \S+: no such column|reads \S+, which is the label`)},
	{"no-validation", regexp.MustCompile(`no validation records: add input.split`)},
	{"split-column", regexp.MustCompile(`which input\.split\.by names|input\.split\.by is `)},
	{"empty-split", regexp.MustCompile(`input\.split: no \w+ records`)},
	{"job-file", regexp.MustCompile(`no such job file|no key "|\.ya?ml:\d+:\d+: `)},
	{"missing-file", regexp.MustCompile(`no input file |open \S+: no such file or directory|want a regular file|matches folders alone|input folder .* (has no files|is a link to)`)},
	{"lake-folder", regexp.MustCompile(`is in no folder that names|name the column \S+ twice|in the names of its folders`)},
	{"lake-table", regexp.MustCompile(`is a table of .*, whose folder has removed files`)},
	{"parquet-type", regexp.MustCompile(`parquet: .* is (a map|a list of|encrypted|an interval|compressed by)|parquet: .* column \S+ is [a-z ]+, want [a-z ]+ as in `)},
	{"parquet-broken", regexp.MustCompile(`parquet: .*(is no Parquet file|is cut: |[Ff]ooter|row group \d|no records in it)`)},
	{"other-kind", regexp.MustCompile(`input: .* is .*: (unpack it|export it|convert it|end the lines|fetch the file|want data|want text|want format)|behind the end of (gzip|zstd)`)},
	{"read-error", regexp.MustCompile(`input/output error`)},
	{"file-changed", regexp.MustCompile(`changed while it was read`)},
	{"bad-records", regexp.MustCompile(`as input.max_bad_records says`)},
	{"damaged-cache", regexp.MustCompile(`cache \S+: block `)},
	{"column", regexp.MustCompile(`no (column|feature) \S+( in \d+ records?)?, which input\.\S+ names|the header (names|is) |want header: true|column \S+: .* is .*, was |input\.columns: .* is .*, was |weights of all \S+ records are 0|column \S+ (has no number in the training records|has no text that|has more than \d+ texts)`)},
	{"classes", regexp.MustCompile(`model\.classes( \S+)?:? (is|has|needs|the) |in each (training )?record(,|$)|have more than \d+ labels|or model\.classes: auto|names of the classes, which|column \S+ is .*, want one of `)},
	{"bad-file", regexp.MustCompile(`crc32c is|file ends|ends early|payload bytes|magic is|no records in |is empty, want an image|length is \d+, want at most|labels, want \d+ as images|no record of any file|has (a|no) header and no record`)},
	{"unseen-id", regexp.MustCompile(`(index|id( \d+)?) (is )?-?\d+, want one in .*before training`)},
	{"data-frame", regexp.MustCompile(`(the|of the) data frame (has|begins|is there)|records have no prediction`)},
	{"bad-record", regexp.MustCompile(`record \d+`)},
	{"option", regexp.MustCompile(`--?[a-z][\w-]*( \S+)? (is|needs|has|wants) |unknown option|, want |--[\w-]+: `)},
}

// Explain returns the anchor of the entry of when-it-breaks.md that explains a message of a job
// that ends with a code, "" if there is none.
func Explain(message string, code int) (anchor string) {
	for _, e := range explanations {
		if e.pattern.MatchString(message) && (e.anchor != "option" || code == exitcode.Usage) { // other messages say what they want, too
			return e.anchor
		}
	}
	return ""
}

// Section returns the part of a page behind an anchor, from its heading to the next heading that
// is not below it. ok is false if the page has no such anchor. An anchor is written
// <a id="NAME"></a>, on a line of its own.
func Section(text, anchor string) (section string, ok bool) {
	_, rest, ok := strings.Cut(text, "<a id=\""+anchor+"\"></a>\n")
	if !ok {
		return "", false
	}
	lines := strings.SplitAfter(strings.TrimLeft(rest, "\n"), "\n")
	level := strings.IndexFunc(lines[0], func(r rune) bool { return r != '#' })
	for i, line := range lines[1:] {
		below := strings.IndexFunc(line, func(r rune) bool { return r != '#' })
		if strings.HasPrefix(line, "<a id=") || below > 0 && below <= level && line[below] == ' ' {
			lines = lines[:i+1]
			break
		}
	}
	return strings.TrimRight(strings.Join(lines, ""), "\n") + "\n", true
}
