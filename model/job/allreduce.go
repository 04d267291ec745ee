package job

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ringtrain/model/keys"
	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/order"
	"ringtrain/ring/phrase"
)

// powerSGD is the value of allreduce.codec that sends matrices as factors. powersgd:R sets their rank.
const powerSGD = "powersgd"

// TLS is the value of allreduce.security with which links between hosts encrypt.
const TLS = "tls"

const (
	defaultLowRank = 4
	maxLowRank     = 64
)

// Codec is the value of allreduce.codec.
type Codec string

// Takes returns all codecs.
func (Codec) Takes() string {
	return Auto + ", " + strings.Join(codec.Names(), ", ") + ", " + powerSGD + ", or " + powerSGD + ":R"
}

// Algorithm is the value of allreduce.algorithm.
type Algorithm string

// Takes returns the names of all algorithms.
func (Algorithm) Takes() string { return strings.Join(ring.AlgorithmNames(), ", ") }

// Lossless is the value of allreduce.lossless.
type Lossless string

// Takes returns the names of all compressors.
func (Lossless) Takes() string { return strings.Join(codec.CompressorNames(), ", ") }

// Compressor returns the compressor of the codec's bytes on the wire, nil for none. A value that
// allreduce.lossless does not allow is an error with exitcode.Usage.
func (a AllReduce) Compressor() (codec.Compressor, error) {
	return codec.ParseCompressor(string(a.Lossless))
}

// ParseCodec returns the codec of the first step, and the rank of the factors of powersgd, 0 for other
// codecs.
func (a AllReduce) ParseCodec() (c codec.Codec, lowRank int, err error) {
	kind, r, given := strings.Cut(string(a.Codec), ":")
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
	if c, err = codec.Parse(string(a.Codec)); err != nil {
		err = fmt.Errorf("allreduce.codec is %q%s, want one of %s", a.Codec, phrase.DidYouMean(kind, codec.Names()), a.Codec.Takes())
	}
	return c, 0, err
}

// Check returns all faults of a at once.
func (a *AllReduce) Check() error {
	var f faults
	add := func(key string, value any, err error) {
		if instead := Removed(key, fmt.Sprint(value)); instead != "" {
			err = fmt.Errorf("%s is %q, %s", key, value, instead)
		}
		if err != nil {
			f = append(f, err)
		}
	}
	_, lowRank, err := a.ParseCodec()
	add("allreduce.codec", a.Codec, err)
	if lowRank > 0 && !a.ErrorFeedback {
		f.add("allreduce.error_feedback is false, want true with allreduce.codec %s: the part of gradients that factors drop would be lost", a.Codec)
	}
	if _, err = order.Parse(a.Order); err != nil {
		err = fmt.Errorf("allreduce.%w", err)
	}
	add("allreduce.order", a.Order, err)
	for _, err := range keys.Check("allreduce", a) {
		fault, _ := errors.AsType[keys.Fault](err)
		add(fault.Key, fault.Value, err)
	}
	return f.err()
}
