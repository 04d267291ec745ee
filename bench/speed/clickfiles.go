package speed

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"ringtrain/input/convert"
	"ringtrain/input/synth"
)

// log returns the drawn click log of a case over a table of spread times its ids.
func (c clickCase) log(spread int) synth.ClickLog {
	return synth.ClickLog{Seed: 1, Rows: c.rows, IDs: c.ids, Fields: clickFields, Spread: spread, Interactions: true}
}

// draw writes the files of a case's contenders into folder.
func (c clickCase) draw(ctx context.Context, folder string) (clickFiles, error) {
	f := clickFiles{folder: folder, texts: map[string]string{}}
	spreads := c.spreads
	if len(spreads) == 0 {
		spreads = []int{1}
	}
	for _, spread := range spreads {
		for _, format := range c.texts {
			log := convert.ClickLog{ClickLog: c.log(spread), TestRows: 1, Format: convert.FormatName(format)}
			if format == "csv" {
				log.Numbers = c.numbers
			}
			made, err := convert.MakeClicks(ctx, log, filepath.Join(folder, strconv.Itoa(spread)))
			if err != nil {
				return f, err
			}
			f.texts[textKey(format, spread)] = made[0].Name
		}
	}
	if !c.drawn {
		return f, nil
	}
	f.ids, f.labels = filepath.Join(folder, "ids"), filepath.Join(folder, "labels")
	return f, writeNumbers(c.log(1).Draw(synth.Train), f.ids, f.labels)
}

// writeNumbers writes the ids of all records, little-endian in 4 bytes each, and their
// labels in one byte each.
func writeNumbers(d *synth.Drawn, ids, labels string) error {
	idFile, err := os.Create(ids)
	if err != nil {
		return err
	}
	defer idFile.Close()
	out := bufio.NewWriterSize(idFile, 1<<20)
	all := make([]byte, d.Rows)
	var row []uint32
	var bytes []byte
	for i := range all {
		row, all[i], _ = d.AppendRow(row[:0], i)
		bytes = bytes[:0]
		for _, id := range row {
			bytes = binary.LittleEndian.AppendUint32(bytes, id)
		}
		if _, err := out.Write(bytes); err != nil {
			return err
		}
	}
	return errors.Join(out.Flush(), os.WriteFile(labels, all, 0o600))
}

// remove removes the files.
func (f clickFiles) remove() {
	if f.folder != "" {
		os.RemoveAll(f.folder)
	}
}

// rowBytes returns the mean length of a text record for each contender of a case.
func (f clickFiles) rowBytes(c Case) map[string]float64 {
	all := map[string]float64{}
	for _, name := range c.who {
		format := c.click.texts[0]
		if name == vwNoop || name == parseVW {
			format = "vw"
		}
		if info, err := os.Stat(f.text(format, 1)); err == nil {
			all[name] = float64(info.Size()) / float64(c.click.rows)
		}
	}
	return all
}
