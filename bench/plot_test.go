package bench

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"
)

// TestPlot verifies that a plot is XML, that it has a mark for each point, each line's name as text, and
// labels that do not overlap.
func TestPlot(t *testing.T) {
	p := Plot{Title: "all-reduce <2 ranks>", X: "bytes", Y: "GB/s"}
	for _, name := range []string{"none", `int8 & "more"`} {
		line := PlotLine{Name: name}
		for i := range 20 {
			line.Points = append(line.Points, PlotPoint{X: float64(int(8) << i), Y: float64(1 + i), Spread: 0.5, Label: SizeText(8 << i)})
		}
		p.Lines = append(p.Lines, line)
	}
	var b bytes.Buffer
	if err := p.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	circles, texts := 0, []string{}
	for d := xml.NewDecoder(bytes.NewReader(b.Bytes())); ; {
		token, err := d.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "circle" {
				circles++
			}
		case xml.CharData:
			texts = append(texts, strings.TrimSpace(string(e)))
		}
	}
	all := strings.Join(texts, "|")
	for _, want := range []string{"all-reduce <2 ranks>", `int8 & "more"`, "|none|", "|8|", "|20|", "|15|"} {
		if !strings.Contains(all, want) {
			t.Errorf("texts are %s, want %s in them", all, want)
		}
	}
	if circles != 40 || strings.Contains(all, "|16|") {
		t.Errorf("%d points, want 40; texts are %s, want no label 16 beside 8", circles, all)
	}
}

// TestTick verifies the marks of an axis.
func TestTick(t *testing.T) {
	for high, want := range map[float64]float64{4: 1, 9.9: 2, 10: 2, 21: 5, 0.3: 0.05, 123456: 20000} {
		if got := tick(high); got < want*0.999 || got > want*1.001 {
			t.Errorf("marks up to %v are %v apart, want %v", high, got, want)
		}
	}
}
