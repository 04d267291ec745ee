package hosts

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"

	"ringtrain/ring/exitcode"
)

// Limits of a hostfile.
const (
	maxHostfileLine  = 4 << 10
	maxHostfileLines = 1 << 16
)

// ReadFile reads the hostfile name. A missing file is exitcode.NoInput, a faulty one
// exitcode.Usage.
func ReadFile(name string) ([]Host, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, exitcode.With(exitcode.NoInput, fmt.Errorf("--hostfile: %w", err))
	}
	defer f.Close()
	return parseHostfile(f, name)
}

// parseHostfile reads one host a line, in the forms of other launchers:
//
//	node1 slots=4 max_slots=8      Open MPI, Horovod; also slots = 4, cpu=4 or count=4
//	node2:4                        MPICH
//	node3                          one slot; a host may come again
//	node4 slots=0                  not used
//	# comment
//
// Other keys are errors that name the file and the line. So is a max_slots below slots.
// Without slots, max_slots is the number of slots; 0 means no limit. A byte order mark before
// the first line is passed over.
func parseHostfile(r io.Reader, name string) ([]Host, error) {
	var (
		list []Host
		errs []error
		at   int
	)
	s := bufio.NewScanner(r)
	s.Buffer(nil, maxHostfileLine)
	for s.Scan() && at < maxHostfileLines {
		at++
		if !utf8.Valid(s.Bytes()) || bytes.IndexByte(s.Bytes(), 0) >= 0 {
			errs = append(errs, fmt.Errorf("%s:%d: not in UTF-8, want text of one host a line", name, at))
			break
		}
		text, _, _ := strings.Cut(strings.TrimPrefix(s.Text(), "\ufeff"), "#")
		fields := strings.Fields(spacedEqual.ReplaceAllString(text, "="))
		if len(fields) == 0 {
			continue
		}
		h, err := parseHostLine(fields)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, at, err))
			continue
		}
		if h.Slots > 0 {
			list = append(list, h)
		}
	}
	switch {
	case s.Err() != nil:
		errs = append(errs, fmt.Errorf("%s:%d: %w", name, at+1, s.Err()))
	case at == maxHostfileLines:
		errs = append(errs, fmt.Errorf("%s: more than %d lines", name, maxHostfileLines-1))
	case len(errs) == 0 && len(list) == 0:
		errs = append(errs, fmt.Errorf("%s: no host in it has a slot", name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return mergeLocal(list)
}

// spacedEqual matches = as Open MPI reads it, with blanks around.
var spacedEqual = regexp.MustCompile(`\s*=\s*`)

// hostKeys are the words of Open MPI for the slots of a host and for their bound, with _ for -.
var hostKeys = map[string]string{
	"slots": "slots", "cpu": "slots", "count": "slots",
	"max_slots": "max_slots", "slots_max": "max_slots", "cpu_max": "max_slots", "count_max": "max_slots",
}

// parseHostLine reads the words of one line.
func parseHostLine(fields []string) (Host, error) {
	h, err := parseHost(fields[0])
	if err != nil {
		return h, err
	}
	given := map[string]int{}
	numbered := h.Name != fields[0] && !strings.HasSuffix(fields[0], "]")
	for _, f := range fields[1:] {
		word, value, ok := strings.Cut(f, "=")
		key := hostKeys[strings.ReplaceAll(word, "-", "_")]
		_, twice := given[key]
		switch {
		case !ok || key == "":
			return h, fmt.Errorf("%q after host %s, want slots=N or max_slots=N", f, h.Name)
		case twice || key == "slots" && numbered:
			return h, fmt.Errorf("%s of host %s twice", key, h.Name)
		case value == "0":
			given[key] = 0
			continue
		}
		if given[key], err = parseSlots(word, value); err != nil {
			return h, fmt.Errorf("host %s: %w", h.Name, err)
		}
	}
	slots, is := given["slots"]
	most := given["max_slots"]
	switch {
	case is:
		h.Slots = slots
	case most > 0 && !numbered:
		h.Slots = most
	}
	if most > 0 && most < h.Slots {
		return h, fmt.Errorf("host %s: max_slots is %d, want at least slots, %d", h.Name, most, h.Slots)
	}
	return h, nil
}
