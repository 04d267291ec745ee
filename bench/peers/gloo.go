package peers

import (
	"context"
)

const gloo = "gloo"

// glooContender is gloo, in five ways.
func glooContender() Contender {
	d := driver{
		source:  "gloo.cc",
		compile: []string{"g++", "-std=c++17", "-O3", "-march=native", "-Wno-sign-compare"},
		libs:    []string{"-lgloo", "-pthread"},
		needs:   "libgloo-dev g++",
	}
	var program string
	return Contender{
		Name: gloo,
		prepare: func(ctx context.Context) (err error) {
			program, err = d.built(ctx)
			return err
		},
		crew: func(w Work, p Place, folder string) []process {
			return eachRank(w, p, folder, []string{program})
		},
		parse: parseLine,
	}
}
