package synth

import (
	"fmt"

	"ringtrain/input"
)

// Numbers of records of a job with input.synthetic, and the size of an image.
const (
	DigitsTrain = 6000
	DigitsEval  = 1000
	DigitsSide  = 28 // width and height in pixels
)

const digitsPixels = DigitsSide * DigitsSide

// images has labelled images of one byte per pixel.
type images struct {
	name           string
	pixels, labels []byte
}

// Digits returns n images of the ten digits. The strokes vary in position, size, slant,
// thickness and ink, on noise. As in MNIST an image has 28×28 pixels, row by row, each a
// byte divided by 255 and rounded to float32; the label is the digit. A linear
// classifier has an accuracy of about 95 %.
func Digits(seed uint64, n int, split Split) input.Dataset {
	pixels, labels := DigitsBytes(seed, n, split)
	return &images{fmt.Sprintf("synthetic-digits-%s-seed-%d", split, seed), pixels, labels}
}

// DigitsBytes returns the pixels and labels of Digits as the bytes of an IDX file.
func DigitsBytes(seed uint64, n int, split Split) (pixels, labels []byte) {
	r := newSource(seed, split.stream())
	pixels, labels = make([]byte, n*digitsPixels), make([]byte, n)
	for i := range labels {
		labels[i] = byte(r.below(10))
		drawDigit(pixels[i*digitsPixels:(i+1)*digitsPixels], r, int(labels[i]))
	}
	return pixels, labels
}

func (im *images) Facts() input.Facts {
	return input.Facts{
		Records: len(im.labels), Features: digitsPixels, Shape: []int{DigitsSide, DigitsSide, 1}, InMemory: true,
		Manifest: []string{fmt.Sprintf("%s %d %d", im.name, len(im.pixels), len(im.labels))},
	}
}

func (im *images) Close() error { return nil }

func (im *images) Append(b *input.Batch, records ...int) error {
	for _, i := range records {
		row := b.DenseRow(digitsPixels)
		for j, p := range im.pixels[i*digitsPixels : (i+1)*digitsPixels] {
			row[j] = float32(p) / 255
		}
		b.Y = append(b.Y, float32(im.labels[i]))
	}
	return nil
}
