package hosts

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

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
//	node1 slots=4 max_slots=8      Open MPI, Horovod
//	node2:4                        MPICH
//	node3                          one slot; a host may come again
//	# comment
//
// Other keys are errors that name the file and the line. So is a max_slots below slots.
// Without slots, max_slots is the number of slots.
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
		text, _, _ := strings.Cut(strings.TrimPrefix(s.Text(), "\ufeff"), "#") // without a byte order mark
		fields := strings.Fields(text)
		if len(fields) == 0 {
			continue
		}
		h, err := parseHostLine(fields)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, at, err))
			continue
		}
		list = append(list, h)
	}
	switch {
	case s.Err() != nil:
		errs = append(errs, fmt.Errorf("%s:%d: %w", name, at+1, s.Err()))
	case at == maxHostfileLines:
		errs = append(errs, fmt.Errorf("%s: more than %d lines", name, maxHostfileLines-1))
	case len(errs) == 0 && len(list) == 0:
		errs = append(errs, fmt.Errorf("%s: no host in it", name))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return mergeLocal(list)
}

// parseHostLine reads the words of one line.
func parseHostLine(fields []string) (Host, error) {
	h, err := parseHost(fields[0])
	if err != nil {
		return h, err
	}
	numbered := h.Name != fields[0] && !strings.HasSuffix(fields[0], "]")
	slots, most := 0, 0
	for _, f := range fields[1:] {
		key, value, ok := strings.Cut(f, "=")
		switch into := map[string]*int{"slots": &slots, "max_slots": &most, "max-slots": &most}[key]; {
		case !ok || into == nil:
			return h, fmt.Errorf("%q after host %s, want slots=N or max_slots=N", f, h.Name)
		case *into != 0 || key == "slots" && numbered:
			return h, fmt.Errorf("%s of host %s twice", key, h.Name)
		default:
			if *into, err = parseSlots(key, value); err != nil {
				return h, fmt.Errorf("host %s: %w", h.Name, err)
			}
		}
	}
	switch {
	case slots > 0:
		h.Slots = slots
	case most > 0 && !numbered:
		h.Slots = most
	}
	if most > 0 && most < h.Slots {
		return h, fmt.Errorf("host %s: max_slots is %d, want at least slots, %d", h.Name, most, h.Slots)
	}
	return h, nil
}
