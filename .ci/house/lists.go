package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
)

// checkLists fails for each variable of a type of its package that stands in no list, where the package has
// a list of such values: an optimizer or a loss that the product would not know.
func checkLists(p *program) error {
	var errs []error
	for _, pkg := range p.packages {
		scope := pkg.types.Scope()
		stands, hasList := map[string]bool{}, map[types.Type]bool{}
		for _, list := range valuesOf(pkg) {
			slice, ok := scope.Lookup(list.Names[0].Name).Type().(*types.Slice)
			if !ok {
				continue
			}
			hasList[valueType(slice.Elem())] = true
			ast.Inspect(list.Values[0], func(n ast.Node) bool {
				if name, ok := n.(*ast.Ident); ok {
					stands[name.Name] = true
				}
				return true
			})
		}
		for _, name := range scope.Names() {
			v, ok := scope.Lookup(name).(*types.Var)
			if !ok || stands[name] || !hasList[valueType(v.Type())] {
				continue
			}
			if t, ok := valueType(v.Type()).(*types.Named); ok && t.Obj().Pkg() == pkg.types {
				errs = append(errs, fmt.Errorf("%s.%s stands in no list of its kind", pkg.types.Path(), name))
			}
		}
	}
	return errors.Join(errs...)
}

// valueType returns the type of a value, or of what it points to.
func valueType(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return types.Unalias(t)
}

// valuesOf returns the declarations of one variable with a value, outside of functions.
func valuesOf(pkg *checkedPackage) []*ast.ValueSpec {
	var all []*ast.ValueSpec
	for _, f := range pkg.files {
		for _, d := range f.Decls {
			decl, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range decl.Specs {
				if v, ok := s.(*ast.ValueSpec); ok && len(v.Names) == 1 && len(v.Values) == 1 && v.Names[0].Name != "_" {
					all = append(all, v)
				}
			}
		}
	}
	return all
}
