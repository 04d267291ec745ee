package events

import (
	"bytes"
	"math"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
)

// TestAppend verifies that an event encoded by hand has the bytes of the message.
func TestAppend(t *testing.T) {
	for _, scalars := range [][]Scalar{
		{{"loss", 0.5}}, {{"", 0}}, {{"a/very/long/" + string(bytes.Repeat([]byte("t"), 200)), math.Inf(-1)}, {"b", math.NaN()}, {"c", 1e300}},
	} {
		var summary []byte
		message := new(tfpb.Summary)
		for _, s := range scalars {
			summary = appendValue(summary, s)
			value := &tfpb.Summary_Value{Tag: s.Tag, Value: &tfpb.Summary_Value_SimpleValue{SimpleValue: float32(s.Value)}}
			message.Value = append(message.Value, value)
		}
		got := new(tfpb.Event)
		if err := proto.Unmarshal(appendSummary(nil, 1.5, 1<<40, summary), got); err != nil {
			t.Fatal(err)
		}
		want := &tfpb.Event{WallTime: 1.5, Step: 1 << 40, What: &tfpb.Event_Summary{Summary: message}}
		if !proto.Equal(got, want) {
			t.Errorf("event %v, want %v", got, want)
		}
	}
}

// TestAddAllocatesNothing verifies that Add allocates nothing.
func TestAddAllocatesNothing(t *testing.T) {
	w := newWriter(new(disk), "file", map[string]int64{})
	scalars := []Scalar{{"train/loss", 1}, {"train/learning_rate", 2}}
	step := int64(0)
	w.pending, w.began = make(buffer, 0, maxPending), noon.AddDate(1000, 0, 0) // no write becomes due
	if n := testing.AllocsPerRun(100, func() {
		w.planned = true
		step++
		w.Add(step, scalars, noon)
	}); n != 0 {
		t.Errorf("an event allocates %v times, want none", n)
	}
}
