package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// checkManners fails for each receiver that is not named by its type, and for each condition that
// tests nothing of what its statement assigns. It reads the files of all systems, and the tests.
func checkManners(root string) error {
	set := token.NewFileSet()
	receivers := map[string]map[string]bool{} // names by folder and type
	var errs []error
	for _, column := range columns {
		err := filepath.WalkDir(filepath.Join(root, column), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			f, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil || ast.IsGenerated(f) {
				return err
			}
			errs = append(errs, misnamed(set, f, receivers, filepath.Dir(path)+"."+f.Name.Name)...)
			errs = append(errs, untested(set, f)...)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return errors.Join(errs...)
}

// misnamed returns an error for each method of a file whose receiver has a name that is no short
// form of its type, or another name than in the methods before it. receivers has those names.
func misnamed(set *token.FileSet, f *ast.File, receivers map[string]map[string]bool, pkg string) []error {
	var errs []error
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
			continue
		}
		name, of := fn.Recv.List[0].Names[0].Name, receiverType(fn.Recv.List[0].Type)
		if name == "_" {
			continue
		}
		if !isShortFor(name, of) {
			errs = append(errs, fmt.Errorf("%v: receiver %s of %s is no short form of the type's name", set.Position(fn.Pos()), name, of))
		}
		seen := receivers[pkg+"."+of]
		if seen == nil {
			seen = map[string]bool{}
			receivers[pkg+"."+of] = seen
		}
		seen[name] = true
		if len(seen) == 2 {
			errs = append(errs, fmt.Errorf("%v: receiver %s of %s has another name in other methods", set.Position(fn.Pos()), name, of))
		}
	}
	return errs
}

// receiverType returns the name of a receiver's type.
func receiverType(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiverType(t.X)
	case *ast.IndexExpr:
		return receiverType(t.X)
	case *ast.IndexListExpr:
		return receiverType(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// isShortFor reports whether name is a short form of a type's name: it begins as one of the words
// of the type's name does, and its letters come in the type's order. So a pollSocket may be p, s or ps.
func isShortFor(name, of string) bool {
	if unicode.IsUpper([]rune(name)[0]) {
		return false
	}
	for i, letter := range of {
		if begins := i == 0 || !unicode.IsLower(letter); begins && isWithin(strings.ToLower(name), strings.ToLower(of[i:])) {
			return true
		}
	}
	return false
}

// isWithin reports whether the letters of short come in long in the same order, the first at its head.
func isWithin(short, long string) bool {
	if short[0] != long[0] {
		return false
	}
	for _, letter := range long {
		if short != "" && rune(short[0]) == letter {
			short = short[1:]
		}
	}
	return short == ""
}

// untested returns an error for each `if x = …; condition` of a file whose condition has no x. The
// variable of `if x := …; condition` may be for its branches.
func untested(set *token.FileSet, f *ast.File) []error {
	var errs []error
	ast.Inspect(f, func(n ast.Node) bool {
		branch, ok := n.(*ast.IfStmt)
		if !ok || branch.Init == nil || declares(branch.Init) {
			return true
		}
		if assigned := assignedBy(branch.Init); !mentions(branch.Cond, assigned) {
			errs = append(errs, fmt.Errorf("%v: the condition does not test what its statement assigns", set.Position(branch.Pos())))
		}
		return true
	})
	return errs
}

// declares reports whether a statement is x := ….
func declares(s ast.Stmt) bool {
	a, ok := s.(*ast.AssignStmt)
	return ok && a.Tok == token.DEFINE
}

// assignedBy returns the texts of what a statement assigns, such as `x`, `s.count` or `list[i]`.
func assignedBy(s ast.Stmt) []string {
	var places []string
	switch s := s.(type) {
	case *ast.AssignStmt:
		for _, x := range s.Lhs {
			places = append(places, types.ExprString(x))
		}
	case *ast.IncDecStmt:
		places = append(places, types.ExprString(s.X))
	}
	return places
}

// mentions reports whether an expression has one of the places.
func mentions(x ast.Expr, places []string) bool {
	found := false
	ast.Inspect(x, func(n ast.Node) bool {
		if part, ok := n.(ast.Expr); ok && slices.Contains(places, types.ExprString(part)) {
			found = true
		}
		return !found
	})
	return found
}
