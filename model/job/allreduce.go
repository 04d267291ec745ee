package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/tcplink"
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

func compressorNames() []string { return []string{"none", "s2", "zstd", "huff0"} }

// Compressor returns the compressor of the codec's bytes on the wire, nil for none. A value that
// allreduce.codec or allreduce.lossless does not allow is an error with exitcode.Usage.
func (a AllReduce) Compressor() (codec.Compressor, error) {
	if err := a.checkLossless(); err != nil {
		return nil, exitcode.With(exitcode.Usage, err)
	}
	return codec.ParseCompressor(a.Lossless)
}

func (a AllReduce) checkLossless() error {
	if !slices.Contains(compressorNames(), a.Lossless) {
		return fmt.Errorf("allreduce.lossless is %q, want one of %s", a.Lossless, strings.Join(compressorNames(), ", "))
	}
	return nil
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
	oneOf := func(key, value string, names ...string) {
		if !slices.Contains(names, value) {
			f.add("%s is %q, want one of %s", key, value, strings.Join(names, ", "))
		}
	}
	_, lowRank, err := a.ParseCodec()
	if err != nil {
		f = append(f, err)
	}
	if lowRank > 0 && !a.ErrorFeedback {
		f.add("allreduce.error_feedback is false, want true with allreduce.codec %s: the part of gradients that factors drop would be lost", a.Codec)
	}
	if err := a.checkLossless(); err != nil {
		f = append(f, err)
	}
	oneOf("allreduce.link", a.Link, "auto", "tcp", "grpc", "shm")
	oneOf("allreduce.levels", a.Levels, "auto", "flat")
	if _, err := tcplink.ParseStreams(a.Streams); err != nil {
		f.add("allreduce.%w", err)
	}
	if _, err := ring.ParseAlgorithms(a.Algorithm); err != nil {
		f.add("allreduce.%w", err)
	}
	if _, err := order.Parse(a.Order); err != nil {
		f.add("allreduce.%w", err)
	}
	if a.Bucket < 4<<10 {
		f.add("allreduce.bucket is %d, want 4KiB or more", a.Bucket)
	}
	return f.err()
}
