package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode"
	"unicode/utf16"
)

// Stamped is an event with the time at which rank 0 emitted it.
type Stamped struct {
	Event
	Time time.Time
}

// Unknown is an event of a kind that this program does not know, such as one of a later version.
type Unknown struct{ Name string }

// Past is an event of an earlier attempt of the run. Rank 0 hands those of its history to a launcher that asks for
// them, before its start.
type Past struct {
	Of json.RawMessage `json:"of"` // its line
}

// Digest is the digest of rank 0, for its launcher alone.
type Digest struct {
	Digest string `json:"digest"`
}

// Line returns the JSON object of an event, with its name and time first, and a newline.
func Line(e Event, at time.Time) ([]byte, error) {
	head, err := Marshal(struct {
		Event string `json:"event"`
		Time  string `json:"time"`
	}{e.Kind(), at.UTC().Format(time.RFC3339Nano)})
	if err != nil {
		return nil, err
	}
	body, err := Marshal(e)
	if err != nil {
		return nil, err
	}
	head = head[:len(head)-1]
	if len(body) > 2 {
		head = append(head, ',')
	}
	return append(append(head, body[1:]...), '\n'), nil
}

// Parse is the inverse of [Line]. It passes over fields that it does not know.
func Parse(line []byte) (Stamped, error) {
	var head struct {
		Event string
		Time  time.Time
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return Stamped{}, fmt.Errorf("no event: %w", err)
	}
	if head.Event == "" {
		return Stamped{}, fmt.Errorf("no event: want a JSON object with a field event")
	}
	e, err := decode(head.Event, line)
	if err != nil {
		return Stamped{}, fmt.Errorf("event %s: %w", head.Event, err)
	}
	return Stamped{e, head.Time}, nil
}

// The names of the events.

func (Checkpointed) Kind() string { return "checkpoint" }
func (Decision) Kind() string     { return "decision" }
func (Digest) Kind() string       { return "digest" }
func (Done) Kind() string         { return "done" }
func (Exported) Kind() string     { return "export" }
func (Failure) Kind() string      { return "error" }
func (Generation) Kind() string   { return "generation" }
func (Metrics) Kind() string      { return "eval" }
func (Past) Kind() string         { return "past" }
func (Progressive) Kind() string  { return "progressive" }
func (Ranks) Kind() string        { return "ranks" }
func (Start) Kind() string        { return "start" }
func (Step) Kind() string         { return "step" }
func (Waiting) Kind() string      { return "waiting" }
func (Warning) Kind() string      { return "warning" }
func (u Unknown) Kind() string    { return u.Name }

// decode returns the event of a kind.
func decode(kind string, line []byte) (Event, error) {
	for _, read := range []func(string, []byte) (Event, error){
		as[Start], as[Step], as[Ranks], as[Metrics], as[Generation], as[Decision], as[Progressive], as[Warning],
		as[Checkpointed], as[Exported], as[Waiting], as[Failure], as[Done], as[Digest], as[Past],
	} {
		if e, err := read(kind, line); e != nil || err != nil {
			return e, err
		}
	}
	return Unknown{kind}, nil
}

// as returns the event if it is of the kind of E, else nil.
func as[E Event](kind string, line []byte) (Event, error) {
	var e E
	if e.Kind() != kind {
		return nil, nil
	}
	err := json.Unmarshal(line, &e)
	return e, err
}

// Marshal returns v as JSON whose bytes are all of printable characters. JSON can tell of other
// characters, and programs get back what a column is called, so none is replaced.
func Marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil || !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c > '~' }) {
		return text, err
	}
	escaped := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if unicode.IsPrint(r) {
			escaped = append(escaped, string(r)...)
			continue
		}
		for _, half := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, half)
		}
	}
	return escaped, nil
}
