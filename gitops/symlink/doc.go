// Package symlink finds where a name leads in a tree with symbolic links, as the kernel does:
// what reads files, and what tells which were read, must not differ in that.
package symlink
