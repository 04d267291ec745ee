package look

import (
	"fmt"
	"slices"
)

// compare adds what is likely wrong with validation records.
func (p *pass) compare(r *Report, eval *pass, key string) {
	apart := "take them out of one, so that metrics say something of new records"
	if key == "input.split" {
		apart = "take all but one of equal records out, or input.split.by: COLUMN of a cell that they have in common"
	}
	if n := eval.check.known.common(&p.check.known); n > 0 {
		r.Findings = append(r.Findings, Finding{What: "records are in input.train and in " + key, Records: n, Fix: apart})
	}
	r.fewOfClass(p.names[p.check.labelField()], p.classRecords(), eval.classRecords())
	var all []Finding
	trained := p.check.features()
	for i, at := range eval.check.features() {
		in := trained[i]
		c := &r.Columns[in]
		if c.content != texts || p.check.divides(in) {
			continue
		}
		n := eval.values[at].hashes.beyond(&p.values[in].hashes)
		if n == 0 || leastOfTexts*n < eval.records {
			continue
		}
		fix := fmt.Sprintf("- categorical: {names: [%s], hash: %d}, or other validation records", c.Name, hashSize(c.Distinct))
		if p.check.check.Hashes(slices.Index(p.check.at, in)) {
			fix = nothingLearnt
		}
		all = append(all, Finding{Column: c.Name, What: "texts that only validation records have", Records: n, Fix: fix})
	}
	if len(all) > mostExamples {
		all = []Finding{together(all)}
	}
	r.Findings = append(r.Findings, all...)
}

// nothingLearnt is the fix of texts that nobody can learn of.
const nothingLearnt = "other validation records: nothing is learnt of these texts"

// together makes one finding of those of several columns, with the most records of one of them.
func together(all []Finding) Finding {
	one := Finding{Fix: nothingLearnt}
	names := make([]string, len(all))
	for i, f := range all {
		names[i], one.Records = f.Column, max(one.Records, f.Records)
	}
	one.What = fmt.Sprintf("%d columns (%s) have %s", len(all), namesShown(names), all[0].What)
	return one
}
