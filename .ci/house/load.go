package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// module is the path of this module.
const module = "ringtrain"

// A program is packages of this module with their functions.
type program struct {
	files     *token.FileSet
	packages  []*checkedPackage
	functions map[string]*function // by nameOf
}

// A checkedPackage is a package of this module, without its tests.
type checkedPackage struct {
	types *types.Package
	files []*ast.File
}

// isGenerated reports whether a place is in generated code.
func (c *checkedPackage) isGenerated(at token.Pos) bool {
	for _, f := range c.files {
		if f.FileStart <= at && at < f.FileEnd {
			return ast.IsGenerated(f)
		}
	}
	return false
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

// load checks the types of the product's packages. The other packages' types come from the
// compiler's export data.
func load(root string) (*program, error) {
	packages, err := listPackages(root)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, l := range packages {
		exports[l.ImportPath] = l.Export
	}
	set := token.NewFileSet()
	imports := &moduleImporter{checked: map[string]*types.Package{}, others: importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	p := &program{files: set, functions: map[string]*function{}}
	for _, l := range packages { // each after what it imports
		if !strings.HasPrefix(l.ImportPath, module+"/") {
			continue
		}
		if err := p.check(set, l, imports); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// listPackages returns the packages of the product and all that they import, imported ones first.
func listPackages(root string) ([]listed, error) {
	args := []string{"list", "-deps", "-export", "-json=ImportPath,Dir,Export,GoFiles"}
	for _, column := range columns {
		args = append(args, "./"+column+"/...")
	}
	list := exec.Command("go", args...)
	list.Dir = root
	var fault bytes.Buffer
	list.Stderr = &fault
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, &fault)
	}
	var packages []listed
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var l listed
		if err := d.Decode(&l); err != nil {
			return nil, err
		}
		packages = append(packages, l)
	}
	return packages, nil
}

// check checks the types of a package and enters its functions.
func (p *program) check(set *token.FileSet, l listed, imports *moduleImporter) error {
	var files []*ast.File
	for _, name := range l.GoFiles {
		f, err := parser.ParseFile(set, filepath.Join(l.Dir, name), nil, parser.SkipObjectResolution|parser.ParseComments)
		if err != nil {
			return err
		}
		files = append(files, f)
	}
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Types: map[ast.Expr]types.TypeAndValue{}}
	config := types.Config{Importer: imports}
	pkg, err := config.Check(l.ImportPath, set, files, info)
	if err != nil {
		return err
	}
	imports.checked[l.ImportPath] = pkg
	p.packages = append(p.packages, &checkedPackage{pkg, files})
	for _, file := range files {
		for _, d := range file.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok || decl.Body == nil {
				continue
			}
			object := info.Defs[decl.Name].(*types.Func)
			f := &function{
				name: nameOf(object), object: object,
				uses: map[string]bool{}, sends: map[types.Object]bool{}, receives: map[types.Object]bool{},
			}
			f.inspect(decl.Body, info)
			p.functions[f.name] = f
		}
	}
	return nil
}

// A moduleImporter finds the packages of this module among those that were checked.
type moduleImporter struct {
	checked map[string]*types.Package
	others  types.Importer
}

func (m *moduleImporter) Import(path string) (*types.Package, error) {
	if p := m.checked[path]; p != nil {
		return p, nil
	}
	if strings.HasPrefix(path, module+"/") {
		return nil, fmt.Errorf("%s is not checked yet", path)
	}
	return m.others.Import(path)
}
