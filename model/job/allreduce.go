package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/order"
)

// powerSGD is the value of allreduce.codec that sends matrices as factors. powersgd:R sets their rank.
const powerSGD = "powersgd"

const (
	defaultLowRank = 4
	maxLowRank     = 64
)

func codecNames() []string {
	names := []string{Auto}
	for _, c := range codec.All() {
		names = append(names, c.String())
	}
	return append(names, powerSGD)
}

func compressorNames() []string { return []string{"none", "zstd"} }

// Compressor returns the compressor of the codec's bytes on the wire, nil for none. A value that
// allreduce.codec or allreduce.lossless does not allow is an error with exitcode.Usage.
func (a AllReduce) Compressor() (codec.Compressor, error) {
	if err := a.checkLossless(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return codec.ParseCompressor(a.Lossless)
}

func (a AllReduce) checkLossless() error {
	return oneOf("allreduce.lossless", a.Lossless, compressorNames()...)
}

// oneOf returns an error unless the value of key is one of names.
func oneOf(key, value string, names ...string) error {
	if slices.Contains(names, value) {
		return nil
	}
	return fmt.Errorf("%s is %q, want one of %s", key, value, strings.Join(names, ", "))
}

// ParseCodec returns the codec of the first step, and the rank of the factors of powersgd, 0 for other
// codecs.
func (a AllReduce) ParseCodec() (c codec.Codec, lowRank int, err error) {
	kind, r, given := strings.Cut(a.Codec, ":")
	switch {
	case kind == powerSGD && given:
		n, err := strconv.ParseUint(r, 10, 8)
		if err != nil || n < 1 || n > maxLowRank {
			return nil, 0, fmt.Errorf("allreduce.codec is %q, want powersgd:R with R from 1 to %d", a.Codec, maxLowRank)
		}
		return codec.None, int(n), nil
	case a.Codec == powerSGD:
		return codec.None, defaultLowRank, nil
	case a.Codec == Auto:
		return codec.None, 0, nil
	}
	if c, err = codec.Parse(a.Codec); err != nil {
		err = fmt.Errorf("allreduce.codec is %q, want one of %s", a.Codec, strings.Join(codecNames(), ", "))
	}
	return c, 0, err
}

// Check returns all faults of a at once.
func (a *AllReduce) Check() error {
	var f faults
	check := func(key, value string, err error) {
		if instead := Removed(key, value); instead != "" {
			err = fmt.Errorf("%s is %q, %s", key, value, instead)
		}
		if err != nil {
			f = append(f, err)
		}
	}
	_, lowRank, err := a.ParseCodec()
	check("allreduce.codec", a.Codec, err)
	if lowRank > 0 && !a.ErrorFeedback {
		f.add("allreduce.error_feedback is false, want true with allreduce.codec %s: the part of gradients that factors drop would be lost", a.Codec)
	}
	check("allreduce.lossless", a.Lossless, a.checkLossless())
	check("allreduce.link", a.Link, oneOf("allreduce.link", a.Link, Auto, "tcp", "shm"))
	check("allreduce.levels", a.Levels, oneOf("allreduce.levels", a.Levels, Auto, "flat"))
	_, err = ring.ParseAlgorithm(a.Algorithm)
	check("allreduce.algorithm", a.Algorithm, asKey(err))
	_, err = order.Parse(a.Order)
	check("allreduce.order", a.Order, asKey(err))
	if a.Bucket < 4<<10 {
		f.add("allreduce.bucket is %d, want 4KiB or more", a.Bucket)
	}
	return f.err()
}

// asKey returns an error of package ring as one of its key.
func asKey(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("allreduce.%w", err)
}
