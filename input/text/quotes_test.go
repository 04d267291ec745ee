package text

import (
	"strings"
	"testing"

	"ringtrain/input"
)

// TestStretchEdge verifies the records around the place where one stretch of blocks ends and the next
// begins, which another goroutine or rank counts: with quotes that are open there, that close, double or
// begin a field there, or are characters of a field. The reference goes character by character.
func TestStretchEdge(t *testing.T) {
	c := Config{Format: "text", Parse: collect, Quote: '"', Separator: ','}
	const edge = stretchBlocks * input.BlockBytes
	for _, around := range []string{
		"a,b\nc,d\n", "a,\"b\nc\",d\n", "\"a\"\"\n\"\"b\",c\n", "a,5\",\"x\ny\"\n", "\"\"\"\"\n\"\n\"\n", "5\"\"\",\"\n\"\n", "   \"a\n \n\t,\"\n\"\n", "a,\"b\n",
	} {
		for shift := range len(around) + 1 {
			before := strings.Repeat("k,"+strings.Repeat("l", 1021)+"\n", edge/1024)
			if strings.HasPrefix(around, "5") {
				before = strings.Repeat("\"\n"+strings.Repeat("l", 1021)+"\",\n", edge/1024)
			}
			content := before[len(before)-edge+shift:]
			content = content[strings.IndexByte(content, '\n')+1:]
			content = strings.Repeat(" ", edge-shift-len(content)-1) + "\n" + content + around + strings.Repeat("m,\"n\"\n", 20)
			want, offsets := reference(content, c)
			s, err := Open(t.Context(), []string{save(t, "f", content)}, c)
			if err != nil {
				t.Fatalf("%q at %d: %v", around, shift, err)
			}
			if s.Facts().Records != len(want) {
				t.Fatalf("%q at %d: %d records, want %d", around, shift, s.Facts().Records, len(want))
			}
			checkCounts(t, s, [][]int{offsets})
			for i := max(len(want)-24, 0); i < len(want); i++ {
				var b input.Batch
				if err := s.Append(&b, i); err != nil || lineOf(&b) != want[i] {
					t.Fatalf("%q at %d: record %d is %q, error %v, want %q", around, shift, i, lineOf(&b), err, want[i])
				}
			}
			s.Close()
		}
	}
}

// TestQuoteLess verifies the places of a stretch without any quote, which may lie within quotes.
func TestQuoteLess(t *testing.T) {
	c := Config{Format: "text", Parse: collect, Quote: '"', Separator: ','}
	filler := strings.Repeat("k,"+strings.Repeat("l", 1021)+"\n", 3*stretchBlocks*input.BlockBytes/1024)
	for content, records := range map[string]int{
		"a,\"" + filler + "\",b\nc\n": 2, "a,b\n" + filler + "\",b\nc\n\",d\n": 2 + strings.Count(filler, "\n"),
	} {
		s, err := Open(t.Context(), []string{save(t, "f", content)}, c)
		if err != nil {
			t.Fatal(err)
		}
		if s.Facts().Records != records {
			t.Errorf("%.5q: %d records, want %d", content, s.Facts().Records, records)
		}
		for b := range s.blocks.Len() { // which also compares the counts with what a block holds
			if err := s.AppendBlock(new(input.Batch), b, func(int, error) {}); err != nil {
				t.Fatal(err)
			}
		}
		s.Close()
	}
}

// FuzzLine verifies that a line is framed alike whether its bytes come at once or in two pieces, by eight
// bytes at a time or one by one, and that fields that Enclosed takes end where the line goes on.
func FuzzLine(f *testing.F) {
	f.Add("a,\"b\nc\"\"\",d\ne", 3, byte(0), false)
	f.Add("\"\"\"\"\"\"\"\"\"\n\",\"\n", 9, byte(2), false)
	f.Add("a, \"b\nc\" ,\t\"d\n\" \"\ne", 3, byte(0), true)
	f.Fuzz(func(t *testing.T, p string, cut int, start byte, trim bool) {
		q, at := Quoting{Quote: '"', Separator: ',', Trim: trim}, place(start)%places
		n, after, ended := q.line([]byte(p), at)
		wantN, wantAfter, wantEnded := len(p), at, false
		for i := range len(p) {
			switch {
			case wantAfter == inQuotes && p[i] == '"':
				wantAfter = fieldStart
			case wantAfter == inQuotes:
			case p[i] == '"' && wantAfter == fieldStart:
				wantAfter = inQuotes
			case p[i] == '\n':
				wantN, wantAfter, wantEnded = i+1, fieldStart, true
			case p[i] == ',':
				wantAfter = fieldStart
			case trim && wantAfter == fieldStart && q.Blank(p[i]):
			default:
				wantAfter = inField
			}
			if wantEnded {
				break
			}
		}
		if n != wantN || after != wantAfter || ended != wantEnded {
			t.Fatalf("%q from %d: %d, %d, %t, want %d, %d, %t", p, at, n, after, ended, wantN, wantAfter, wantEnded)
		}
		if cut = max(0, min(cut, n)); cut < n {
			k, middle, early := q.line([]byte(p[:cut]), at)
			m, last, late := q.line([]byte(p[cut:]), middle)
			if early || k != cut || cut+m != n || last != after || late != ended {
				t.Fatalf("%q from %d in two pieces of %d: %d, %d, %t", p, at, cut, cut+m, last, late)
			}
		}
	})
}
