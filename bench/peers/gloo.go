package peers

import (
	"context"

	"ringtrain/bench/child"
)

const gloo = "gloo"

// glooContender returns gloo in five variants.
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
		processes: func(w Work, p Topology, folder string) []child.Process {
			return eachRank(w, p, folder, []string{program})
		},
		parse: parseLine,
	}
}
