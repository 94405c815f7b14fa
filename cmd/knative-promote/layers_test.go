package main

import (
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestFilesStandInLayers holds the files of the two largest flows to an order: none uses
// a function, a method or a type of one that uses it, by whatever way. So each can be
// read with what it uses below it.
func TestFilesStandInLayers(t *testing.T) {
	t.Parallel()
	if !*more && !*all {
		t.Skip("without -more: it compiles what these packages import")
	}
	const mode = packages.NeedName | packages.NeedImports | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Dir: "../.."}, "./promote", "./gitops")
	if err != nil || packages.PrintErrors(loaded) > 0 || len(loaded) != 2 {
		t.Fatal(len(loaded), err)
	}
	for _, p := range loaded {
		uses := usesOf(p)
		for file := range uses {
			if around := uses.back(file, file, map[string]bool{}); around != nil {
				t.Errorf("%s: files that use each other: %s", p.PkgPath, strings.Join(around, " → "))
				break
			}
		}
	}
}

// fileUses are the files of a package whose names a file uses.
type fileUses map[string][]string

// usesOf reads the uses of functions, methods, types, variables and constants. A field
// belongs to its type.
func usesOf(p *packages.Package) fileUses {
	uses := fileUses{}
	for name, used := range p.TypesInfo.Uses {
		field, is := used.(*types.Var)
		if used.Pkg() != p.Types || is && field.IsField() || used.Parent() != p.Types.Scope() && !isMethod(used) {
			continue
		}
		from, to := fileOf(p, name), fileOf(p, used)
		if from != to && !slices.Contains(uses[from], to) {
			uses[from] = append(uses[from], to)
		}
	}
	return uses
}

func isMethod(used types.Object) bool {
	f, is := used.(*types.Func)
	return is && f.Signature().Recv() != nil
}

func fileOf(p *packages.Package, at interface{ Pos() token.Pos }) string {
	return filepath.Base(p.Fset.Position(at.Pos()).Filename)
}

// back is a way from a file to another one by files that were not seen yet; nil: there
// is none.
func (u fileUses) back(at, to string, seen map[string]bool) []string {
	for _, next := range u[at] {
		if next == to {
			return []string{at, to}
		}
		if seen[next] {
			continue
		}
		seen[next] = true
		if way := u.back(next, to, seen); way != nil {
			return append([]string{at}, way...)
		}
	}
	return nil
}
