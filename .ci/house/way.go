package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// ends are what the functions of a way must use directly, all together: else the list stops
// before the socket, or leaves out a sum.
var ends = []string{
	"golang.org/x/sys/unix.SYS_WRITEV",
	"golang.org/x/sys/unix.SYS_RECVFROM",
	module + "/ring/internal/vec.Sum2",
	module + "/ring/internal/vec.AddF32",
}

// A way is the functions that a gradient passes, in order, and the types of this module that
// are their receivers, parameters and results.
type way struct {
	functions []string
	types     []string
}

// wayIn returns the functions that the fenced list "way" of a page names: the first word of
// each line.
func wayIn(page string) ([]string, error) {
	_, rest, found := strings.Cut(page, "\n```way\n")
	list, _, closed := strings.Cut(rest, "\n```")
	if !found || !closed {
		return nil, errors.New("the page has no fenced list called way")
	}
	var names []string
	for line := range strings.Lines(list) {
		if words := strings.Fields(line); len(words) > 0 {
			names = append(names, words[0])
		}
	}
	return names, nil
}

// The bars of a gradient's way for two levels over TCP.
const (
	mostFunctions = 24
	mostTypes     = 14
)

// checkWay returns the way through the functions of names, such as ring/bucket.Reducer.Ready.
func (p *program) checkWay(names []string) (way, error) {
	var w way
	var errs []error
	listed := map[string]*function{}
	used := map[string]bool{}
	for i, name := range names {
		f := p.functions[module+"/"+name]
		switch {
		case f == nil:
			errs = append(errs, fmt.Errorf("%s is no function", name))
			continue
		case listed[name] != nil:
			errs = append(errs, fmt.Errorf("%s is listed twice", name))
			continue
		case i > 0 && !p.reached(f, listed):
			errs = append(errs, fmt.Errorf("%s is reached from no function before it", name))
		}
		listed[name] = f
		w.functions = append(w.functions, name)
		for _, t := range signatureTypes(f.object) {
			if !slices.Contains(w.types, t) {
				w.types = append(w.types, t)
			}
		}
		for use := range f.uses {
			used[use] = true
		}
	}
	for _, end := range ends {
		if !used[end] {
			errs = append(errs, fmt.Errorf("no function of the way uses %s", end))
		}
	}
	if len(w.functions) > mostFunctions || len(w.types) > mostTypes {
		errs = append(errs, fmt.Errorf("the way has %d functions and %d types, want at most %d and %d", len(w.functions), len(w.types), mostFunctions, mostTypes))
	}
	return w, errors.Join(errs...)
}

// reached reports whether one of the listed functions calls f or hands f on: by its name, by
// a method of an interface that f's receiver implements, or by a channel.
func (p *program) reached(f *function, listed map[string]*function) bool {
	for _, from := range listed {
		if from.uses[f.name] || p.reachedByInterface(from, f) {
			return true
		}
		for c := range f.receives {
			if from.sends[c] {
				return true
			}
		}
	}
	return false
}

// reachedByInterface reports whether from uses a method of an interface that is f of some type.
func (p *program) reachedByInterface(from, f *function) bool {
	receiver := f.object.Signature().Recv()
	if receiver == nil {
		return false
	}
	for _, m := range from.methods {
		if m.Name() != f.object.Name() {
			continue
		}
		iface, ok := m.Signature().Recv().Type().Underlying().(*types.Interface)
		if ok && types.Implements(receiver.Type(), iface) {
			return true
		}
	}
	return false
}

// signatureTypes returns the types of this module that a function has as receiver, parameter
// or result.
func signatureTypes(f *types.Func) []string {
	s := f.Signature()
	var names []string
	if s.Recv() != nil {
		names = appendType(names, s.Recv().Type())
	}
	for v := range s.Params().Variables() {
		names = appendType(names, v.Type())
	}
	for v := range s.Results().Variables() {
		names = appendType(names, v.Type())
	}
	return names
}

func appendType(names []string, t types.Type) []string {
	switch t := t.(type) {
	case *types.Pointer:
		return appendType(names, t.Elem())
	case *types.Slice:
		return appendType(names, t.Elem())
	case *types.Array:
		return appendType(names, t.Elem())
	case *types.Chan:
		return appendType(names, t.Elem())
	case *types.Named:
		if pkg := t.Obj().Pkg(); pkg != nil && strings.HasPrefix(pkg.Path(), module+"/") {
			return append(names, strings.TrimPrefix(pkg.Path(), module+"/")+"."+t.Obj().Name())
		}
	}
	return names
}

// A function is a declared function and what its body uses.
type function struct {
	name            string // as nameOf says
	object          *types.Func
	uses            map[string]bool // names of functions, constants and variables of packages
	methods         []*types.Func   // of interfaces
	sends, receives map[types.Object]bool
}

// inspect fills in what the body of f uses.
func (f *function) inspect(body ast.Node, info *types.Info) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			f.use(info.Uses[n])
		case *ast.CallExpr:
			f.handOn(n, info)
		case *ast.SendStmt:
			f.sends[variableOf(n.Chan, info)] = true
		case *ast.UnaryExpr:
			if n.Op.String() == "<-" {
				f.receives[variableOf(n.X, info)] = true
			}
		case *ast.RangeStmt:
			if _, ok := info.TypeOf(n.X).Underlying().(*types.Chan); ok {
				f.receives[variableOf(n.X, info)] = true
			}
		}
		return true
	})
	delete(f.sends, nil)
	delete(f.receives, nil)
}

// use enters what an identifier stands for.
func (f *function) use(o types.Object) {
	if fn, ok := o.(*types.Func); ok {
		if r := fn.Signature().Recv(); r != nil && types.IsInterface(r.Type()) {
			f.methods = append(f.methods, fn)
			return
		}
	}
	if o != nil && o.Pkg() != nil {
		f.uses[nameOf(o)] = true
	}
}

// handOn enters the methods of the interfaces that a call hands to another module, which
// calls them: io.ReadFull reads from the reader that it is given.
func (f *function) handOn(call *ast.CallExpr, info *types.Info) {
	var callee types.Object
	switch fun := call.Fun.(type) {
	case *ast.Ident:
		callee = info.Uses[fun]
	case *ast.SelectorExpr:
		callee = info.Uses[fun.Sel]
	}
	if fn, ok := callee.(*types.Func); !ok || fn.Pkg() == nil || strings.HasPrefix(fn.Pkg().Path(), module) {
		return
	}
	for _, arg := range call.Args {
		if iface, ok := info.TypeOf(arg).Underlying().(*types.Interface); ok {
			for m := range iface.Methods() {
				f.methods = append(f.methods, m)
			}
		}
	}
}

// variableOf returns the variable or field that an expression names, or nil.
func variableOf(x ast.Expr, info *types.Info) types.Object {
	switch x := x.(type) {
	case *ast.Ident:
		return info.Uses[x]
	case *ast.SelectorExpr:
		return info.Uses[x.Sel]
	}
	return nil
}

// nameOf returns the import path and the name of what a package declares: path.Func, or
// path.Type.Method.
func nameOf(o types.Object) string {
	name := o.Name()
	if fn, ok := o.(*types.Func); ok && fn.Signature().Recv() != nil {
		t := fn.Signature().Recv().Type()
		if p, ok := t.(*types.Pointer); ok {
			t = p.Elem()
		}
		if named, ok := t.(*types.Named); ok {
			name = named.Obj().Name() + "." + name
		}
	}
	return o.Pkg().Path() + "." + name
}
