package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// quoted are words in backticks that may be a path or a name.
var quoted = regexp.MustCompile("`([\\w./-]+)`")

// checkNames fails for each word in backticks that is the path of no file or folder, and the
// name of nothing that a package declares.
func checkNames(root, page string) error {
	declared, err := declarations(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, m := range quoted.FindAllStringSubmatch(page, -1) {
		word := m[1]
		if _, err := os.Stat(filepath.Join(root, word)); err == nil {
			continue
		}
		pkg, name, qualified := strings.Cut(word, ".")
		switch {
		case strings.Contains(word, "/") || qualified && !token.IsIdentifier(pkg):
			errs = append(errs, fmt.Errorf("the page names %s, which is no path", word))
		case qualified && !declared[pkg+"."+name]:
			errs = append(errs, fmt.Errorf("the page names %s, which no package declares", word))
		}
	}
	return errors.Join(errs...)
}

// declarations returns the names of all that the product's packages declare: package.Name
// and package.Type.Method.
func declarations(root string) (map[string]bool, error) {
	names := map[string]bool{}
	for _, column := range columns {
		err := filepath.WalkDir(filepath.Join(root, column), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, decl := range f.Decls {
				declare(names, f.Name.Name, decl)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return names, nil
}

// declare adds what a declaration declares.
func declare(names map[string]bool, pkg string, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if id, ok := t.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		names[pkg+"."+name] = true
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names[pkg+"."+spec.Name.Name] = true
			case *ast.ValueSpec:
				for _, id := range spec.Names {
					names[pkg+"."+id.Name] = true
				}
			}
		}
	}
}
