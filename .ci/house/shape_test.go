package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"
)

// parse returns the file with a text.
func parse(t *testing.T, text string) (*token.FileSet, *ast.File) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, "x.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return set, f
}

// typesOf returns the types that a text declares.
func typesOf(t *testing.T, text string) []*types.Named {
	t.Helper()
	set, f := parse(t, text)
	pkg, err := new(types.Config).Check(module+"/x", set, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return namedTypes(&checkedPackage{pkg, []*ast.File{f}})
}

// TestCheckCycles verifies which fields make a cycle: those that lead from a child to its parent,
// over any number of types; not those of a tree, and not an interface or a function.
func TestCheckCycles(t *testing.T) {
	for text, want := range map[string]string{
		"type a struct { b []b }; type b struct { of *a }":                                        "x.a, x.b",
		"type a struct { b map[int]struct{ b *b } }; type b struct { c }; type c struct{ a **a }": "x.a, x.b, x.c",
		"type a[T any] struct { b []b }; type b struct { of *a[int] }":                            "x.a, x.b",
		"type a struct { left, right *a; b b }; type b struct { next *b }":                        "",
		"type a struct { b b }; type b struct { of interface{}; f func(*a); c chan *a }":          "",
	} {
		err := checkCycles(typesOf(t, "package x; "+text))
		if (err != nil) != (want != "") || !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: error %v, want one about %q", text, err, want)
		}
	}
}

// TestCheckSize verifies the bars of methods and of fields.
func TestCheckSize(t *testing.T) {
	var methods strings.Builder
	for i := range mostMethods {
		fmt.Fprintf(&methods, "func (a *a) m%d() {}; ", i)
	}
	fields := "package x; type a struct { f" + strings.Repeat(", _", mostFields-1)
	for text, fits := range map[string]bool{
		fields + " int }":                                             true,
		fields + ", _ int }":                                          false,
		"package x; type a int; " + methods.String():                  true,
		"package x; type a int; func (a) m() {}; " + methods.String(): false,
	} {
		if err := checkSize(typesOf(t, text)[0]); (err == nil) != fits {
			t.Errorf("%.80s …: error %v, want none: %v", text, err, fits)
		}
	}
}

// TestIsShortFor verifies which names of a receiver are short forms of its type's name.
func TestIsShortFor(t *testing.T) {
	for of, names := range map[string][2]string{
		"pollSocket": {"p s ps poll socket", "o x pz m P self"},
		"Config":     {"c cfg conf", "o g fig"},
		"int8Blocks": {"i i8 b", "c"},
		"conv2D":     {"c d", "l v"},
	} {
		for i, want := range []bool{true, false} {
			for name := range strings.FieldsSeq(names[i]) {
				if got := isShortFor(name, of); got != want {
					t.Errorf("%s is a short form of %s: %v, want %v", name, of, got, want)
				}
			}
		}
	}
}

// TestMisnamed verifies that each receiver is refused that is not named by its type, and the
// second name of a type.
func TestMisnamed(t *testing.T) {
	set, f := parse(t, "package x; func (a a) f() {}; func (_ a) g() {}; func (a) h() {}; func (b *a) i() {}; func (list list[int]) j() {}; func (l list[int]) k() {}")
	if errs := misnamed(set, f, map[string]map[string]bool{}, "x"); len(errs) != 3 {
		t.Errorf("%d errors, want 3: %v", len(errs), errs)
	}
}

// TestUntested verifies that a condition is refused that tests nothing of what its statement assigns.
func TestUntested(t *testing.T) {
	for text, want := range map[string]int{
		"if x = f(); x > 0 {}": 0, "if x.y = f(); g(x.y) {}": 0, "if m[k], ok = f(); !ok {}": 0, "if v := f(); other {}": 0,
		"if x++; x > 3 {}": 0, "if x = f(); y > 0 {}": 1, "if f(); y {} else if x.y = 1; x.z {}": 2,
		"if m[k] = f(); len(m) > 1 {}": 1, "if x.c[4] = f(); c.z {}": 1, "if m[k]++; m[k] > 1 {}": 0,
	} {
		set, file := parse(t, "package x; func _() { "+text+" }")
		if errs := untested(set, file); len(errs) != want {
			t.Errorf("%s: %v, want %d errors", text, errs, want)
		}
	}
}

// TestLists verifies that each value of a kind of which a package has a list stands in a list.
func TestLists(t *testing.T) {
	if err := checkLists(mustLoad(t)); err != nil {
		t.Error(err)
	}
}

// TestCheckLists verifies that a value that stands in no list is named, and no other.
func TestCheckLists(t *testing.T) {
	set, f := parse(t, "package x; type a struct{}; var b, c = a{}, a{}; var d = a{}; var e = func() a { return d }(); var all = []a{e, d}; var n = []int{1}; var m = 2")
	pkg, err := new(types.Config).Check(module+"/x", set, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := checkLists(&program{packages: []*checkedPackage{{pkg, []*ast.File{f}}}})
	if want := "ringtrain/x.b stands in no list of its kind\nringtrain/x.c stands in no list of its kind"; got == nil || got.Error() != want {
		t.Errorf("error %v, want %s", got, want)
	}
}
