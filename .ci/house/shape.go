package main

import (
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"
)

// The bars of a type of the product.
const (
	mostMethods = 40
	mostFields  = 32
)

// tooLarge are the types that are above the bars, until they are divided. An Engine has a method for
// each kernel.
var tooLarge = []string{
	"model/kernel.Engine",
}

// knowParents are types in a cycle of fields, one of each cycle, until they are parted.
var knowParents = []string{
	"export/bundle/faultfs.FS", "model/kernel.Engine",
}

// checkShape fails for each type with too many methods or fields, and for each cycle of fields.
// It also fails for an exception that is none any more.
func checkShape(p *program) error {
	var errs []error
	for _, pkg := range p.packages {
		named := namedTypes(pkg)
		for _, t := range named {
			err := checkSize(t)
			if excepted := slices.Contains(tooLarge, shortName(t)); excepted && err == nil {
				err = fmt.Errorf("%s is not too large: take it out of tooLarge", shortName(t))
			} else if excepted {
				err = nil
			}
			errs = append(errs, err)
		}
		errs = append(errs, checkCycles(named))
	}
	return errors.Join(errs...)
}

// checkSize fails for a type with too many methods or fields.
func checkSize(t *types.Named) error {
	methods, fields := t.NumMethods(), 0
	if s, ok := t.Underlying().(*types.Struct); ok {
		fields = s.NumFields()
	}
	if methods <= mostMethods && fields <= mostFields {
		return nil
	}
	return fmt.Errorf("%s has %d methods and %d fields, want at most %d and %d", shortName(t), methods, fields, mostMethods, mostFields)
}

// namedTypes returns the types that the files of a package declare, generated files apart, by name.
func namedTypes(pkg *checkedPackage) []*types.Named {
	var named []*types.Named
	scope := pkg.types.Scope()
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() || pkg.isGenerated(object.Pos()) {
			continue
		}
		if t, ok := object.Type().(*types.Named); ok {
			named = append(named, t)
		}
	}
	return named
}

// checkCycles fails for each group of types that reach each other by their fields. A type that
// reaches only itself, such as the node of a tree, is no cycle.
func checkCycles(named []*types.Named) error {
	reach := map[*types.Named][]*types.Named{}
	for _, t := range named {
		reach[t] = reached(t, named)
	}
	var errs []error
	done := map[*types.Named]bool{}
	for _, t := range named {
		if done[t] {
			continue
		}
		var names []string
		for _, other := range reach[t] {
			if slices.Contains(reach[other], t) {
				done[other] = true
				names = append(names, shortName(other))
			}
		}
		slices.Sort(names)
		excepted := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(knowParents, name) })
		if len(names) > 1 && !excepted {
			errs = append(errs, fmt.Errorf("fields of %s make a cycle: a child knows its parent", strings.Join(names, ", ")))
		}
	}
	return errors.Join(errs...)
}

// reached returns the types among named that t reaches by fields, over any number of types.
func reached(t *types.Named, named []*types.Named) []*types.Named {
	var all []*types.Named
	for todo := []*types.Named{t}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		for _, held := range held(nil, next.Underlying()) {
			if slices.Contains(named, held) && !slices.Contains(all, held) {
				all, todo = append(all, held), append(todo, held)
			}
		}
	}
	return all
}

// held appends the named types that a value of type t holds: in fields, elements, keys, and behind
// pointers. It does not follow interfaces, functions and channels.
func held(dst []*types.Named, t types.Type) []*types.Named {
	switch t := t.(type) {
	case *types.Named:
		return append(dst, t.Origin())
	case *types.Pointer:
		return held(dst, t.Elem())
	case *types.Slice:
		return held(dst, t.Elem())
	case *types.Array:
		return held(dst, t.Elem())
	case *types.Map:
		return held(held(dst, t.Key()), t.Elem())
	case *types.Struct:
		for f := range t.Fields() {
			dst = held(dst, f.Type())
		}
	}
	return dst
}

// shortName returns the name of a type of this module, such as ring.Group.
func shortName(t *types.Named) string {
	return strings.TrimPrefix(t.Obj().Pkg().Path(), module+"/") + "." + t.Obj().Name()
}
