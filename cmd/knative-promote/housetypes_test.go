package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// mostMethods is how many methods a type may have, embedded ones counted: one with more is a
// place where everything is at hand.
const mostMethods = 25

// mostRoot is how many lines the package promote may have: what it does has packages of
// its own.
const mostRoot = 3030

// TestTypes holds our types, without those of tests and of internal/fake, to few methods,
// and the package promote to few lines.
func TestTypes(t *testing.T) {
	t.Parallel()
	types := declared{}
	root := 0
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, _ fs.DirEntry, err error) error {
		folder := path.Dir(name)
		if err != nil || path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || top(folder) == "internal/fake" || floors[top(folder)] == 0 && top(folder) != "internal" {
			return err
		}
		content, err := os.ReadFile(filepath.Join("../..", name))
		if folder == "promote" {
			root += strings.Count(string(content), "\n")
		}
		if err == nil {
			err = types.add(folder, content)
		}
		return err
	})
	if err != nil || len(types) < 300 {
		t.Fatalf("%d types, %v", len(types), err)
	}
	for name := range types {
		if n := len(types.methods(name)); n > mostMethods {
			t.Errorf("%s has %d methods, expected %d at most", name, n, mostMethods)
		}
	}
	if root > mostRoot {
		t.Errorf("the package promote has %d lines, expected %d at most", root, mostRoot)
	}
}

// declared are the methods of types, and the types that they embed, by folder/name.
type declared map[string]*declaration

type declaration struct{ methods, embeds []string }

func (d declared) of(name string) *declaration {
	if d[name] == nil {
		d[name] = &declaration{}
	}
	return d[name]
}

// add reads a file of a folder.
func (d declared) add(folder string, content []byte) error {
	file, err := parser.ParseFile(token.NewFileSet(), "", content, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	folders := map[string]string{"": folder} // by the name of the import
	for _, spec := range file.Imports {
		imported := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), "github.com/acme/knative-promote/")
		folders[path.Base(imported)] = imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if n.Recv != nil {
				of := d.of(folder + "/" + named(n.Recv.List[0].Type, folders))
				of.methods = append(of.methods, n.Name.Name)
			}
		case *ast.TypeSpec:
			of := d.of(folder + "/" + n.Name.Name)
			if s, is := n.Type.(*ast.StructType); is {
				for _, field := range s.Fields.List {
					if len(field.Names) == 0 {
						of.embeds = append(of.embeds, named(field.Type, folders))
					}
				}
			}
		}
		return true
	})
	return nil
}

// named is a type's name: of the same package alone, of another one with its folder.
func named(t ast.Expr, folders map[string]string) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return named(t.X, folders)
	case *ast.IndexExpr:
		return named(t.X, folders)
	case *ast.SelectorExpr:
		return folders[t.X.(*ast.Ident).Name] + "/" + t.Sel.Name
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// methods are those of a type, also of what it embeds.
func (d declared) methods(name string) map[string]bool {
	all := map[string]bool{}
	if d[name] == nil {
		return all
	}
	for _, m := range d[name].methods {
		all[m] = true
	}
	for _, embedded := range d[name].embeds {
		if !strings.Contains(embedded, "/") {
			embedded = path.Dir(name) + "/" + embedded
		}
		for m := range d.methods(embedded) {
			all[m] = true
		}
	}
	return all
}

// TestMethodsCounted: methods of an embedded type of another package count.
func TestMethodsCounted(t *testing.T) {
	t.Parallel()
	types := declared{}
	for folder, content := range map[string]string{
		"promote/a": "package a\ntype A struct{}\nfunc (A) M() {}\nfunc (*A) N() {}\n",
		"promote/b": "package b\nimport \"github.com/acme/knative-promote/promote/a\"\ntype B struct{ *a.A; c }\ntype c struct{}\nfunc (b *B) N() {}\nfunc (c) o() {}\n",
	} {
		if err := types.add(folder, []byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if got := len(types.methods("promote/b/B")); got != 3 {
		t.Errorf("%d methods, want M, N and o", got)
	}
}
