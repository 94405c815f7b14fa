package remote

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/storage/memory"
)

// entryHead is the type and the length at the start of a pack's entry.
func entryHead(kind plumbing.ObjectType, size int) []byte {
	first, rest := byte(kind)<<4|byte(size&0x0f), size>>4
	if rest == 0 {
		return []byte{first}
	}
	return binary.AppendUvarint([]byte{first | 0x80}, uint64(rest))
}

// packOf is a pack of entries: their heads and contents in turn.
func packOf(entries ...[]byte) []byte {
	var b bytes.Buffer
	b.WriteString("PACK")
	_ = binary.Write(&b, binary.BigEndian, [2]uint32{2, uint32(len(entries) / 2)})
	for i := 0; i < len(entries); i += 2 {
		b.Write(entries[i])
		z := zlib.NewWriter(&b)
		_, _ = z.Write(entries[i+1])
		_ = z.Close()
	}
	sum := sha1.Sum(b.Bytes())
	return append(b.Bytes(), sum[:]...)
}

// deltaOf makes text of a base of the same bytes and an end.
func deltaOf(base, end string) []byte {
	d := binary.AppendUvarint(nil, uint64(len(base)))
	d = binary.AppendUvarint(d, uint64(len(base)+len(end)))
	for n := len(base); n > 0; n -= min(n, 0xffff) {
		at, part := len(base)-n, min(n, 0xffff)
		d = append(d, 0x80|0x0f|0x30, byte(at), byte(at>>8), byte(at>>16), byte(at>>24), byte(part), byte(part>>8))
	}
	return append(append(d, byte(len(end))), end...)
}

func nameOf(content string) plumbing.Hash {
	return plumbing.ComputeHash(plumbing.BlobObject, []byte(content))
}

func blobOf(content string) [][]byte {
	return [][]byte{entryHead(plumbing.BlobObject, len(content)), []byte(content)}
}

// differing is a file as a delta to one that the pack has by name.
func differing(base, end string) [][]byte {
	d, name := deltaOf(base, end), nameOf(base)
	return [][]byte{append(entryHead(plumbing.REFDeltaObject, len(d)), name[:]...), d}
}

func joined(entries ...[][]byte) []byte {
	var all [][]byte
	for _, e := range entries {
		all = append(all, e...)
	}
	return packOf(all...)
}

func TestUnpack(t *testing.T) {
	t.Parallel()
	large := strings.Repeat("x", FileLimit+1)
	pack := joined(differing("base", "!"), blobOf("base"), differing("base!", "?"), blobOf(large), differing(large, "more"), blobOf("last"))
	got, err := unpack(bytes.NewReader(pack), StoreLimit, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"base", "base!", "base!?", "last"} {
		if found := got.Objects[nameOf(content)]; string(found.Content) != content || found.Kind != plumbing.BlobObject {
			t.Errorf("%q is %+v", content, found)
		}
	}
	if len(got.Objects) != 4 {
		t.Errorf("%d objects are kept, want 4", len(got.Objects))
	}
	if size := got.Left[nameOf(large)]; size != int64(len(large)) {
		t.Errorf("the large file is left out with %d bytes, want %d", size, len(large))
	}
}

// TestUnpackSmallFilesFirst keeps what there is room for.
func TestUnpackSmallFilesFirst(t *testing.T) {
	t.Parallel()
	var entries [][][]byte
	sizes := []int{100_000, 2_000, 30_000, 1_000, 60_000, 40_000, 500}
	text := func(size int) string { return strings.Repeat("y", size) }
	for _, size := range sizes {
		entries = append(entries, blobOf(text(size)))
	}
	got, err := unpack(bytes.NewReader(joined(entries...)), 90_000, false)
	if err != nil {
		t.Fatal(err)
	}
	var kept int64
	for _, size := range sizes {
		_, here := got.Objects[nameOf(text(size))]
		left := got.Left[nameOf(text(size))]
		if here == (left > 0) || left > 0 && left != int64(size) || size <= 2_000 && !here || size == 100_000 && here {
			t.Errorf("the file of %d bytes: kept %t, left out with %d bytes", size, here, left)
		}
		if here {
			kept += int64(size)
		}
	}
	if kept > 90_000 || got.cost > 90_000 || got.cost < kept {
		t.Errorf("%d bytes are kept, counted as %d; want at most 90000", kept, got.cost)
	}
}

func TestUnpackErrors(t *testing.T) {
	t.Parallel()
	long := make([][]byte, 0, 2*(waitingLimit+1))
	for range waitingLimit + 1 {
		long = append(long, differing("absent", "!")...)
	}
	many := make([][]byte, 0, 1000)
	for i := range 500 {
		many = append(many, entryHead(plumbing.BlobObject, 2), []byte{byte(i), byte(i >> 8)})
	}
	short := blobOf("abc")
	short[0] = entryHead(plumbing.BlobObject, 4)
	const wide = 1 << 30
	for name, test := range map[string]struct {
		pack []byte
		room int64
		want string
	}{
		"no room for small files": {packOf(many...), 4096, "more than 64 MiB would have to be kept"},
		"too many wait":           {packOf(long...), wide, "more than 4096 objects of it come before what they are made of"},
		"a folder too large":      {packOf(entryHead(plumbing.TreeObject, TreeLimit+1), nil), wide, "a tree has 33554433 bytes; at most 33554432 are read"},
		"too much in all":         {packOf(entryHead(plumbing.BlobObject, 9<<30), nil, entryHead(plumbing.BlobObject, 1), nil), wide, "it holds more than 8192 MiB"},
		"a file alone":            {packOf(entryHead(plumbing.BlobObject, 5<<30), nil), wide, "has 5368709120 bytes; at most 16777216 are read"},
		"shorter than it says":    {joined(short), wide, "an object has 3 bytes, expected 4"},
		"cut":                     {joined(blobOf("abc"))[:20], wide, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := unpack(bytes.NewReader(test.pack), test.room, false)
			if err == nil || err.Error() != test.want {
				t.Errorf("error %v, want %s", err, test.want)
			}
		})
	}
}

// FuzzUnpack: whatever a server sends, what is kept has the name that it is kept
// under, and there is not more of it than there is room for.
func FuzzUnpack(f *testing.F) {
	store := memory.NewStorage()
	var names []plumbing.Hash
	for _, end := range []string{"", "x"} {
		o := &plumbing.MemoryObject{}
		o.SetType(plumbing.BlobObject)
		_, _ = o.Write([]byte(strings.Repeat("hello world ", 30) + end))
		name, err := store.SetEncodedObject(o)
		if err != nil {
			f.Fatal(err)
		}
		names = append(names, name)
	}
	var pack bytes.Buffer
	if _, err := packfile.NewEncoder(&pack, store, false).Encode(names, 10); err != nil {
		f.Fatal(err)
	}
	f.Add(pack.Bytes())
	f.Add(joined(differing("base", "!"), blobOf("base"), differing("base!", "?")))
	f.Add(packOf(entryHead(plumbing.BlobObject, 5), []byte("hello"), append(entryHead(plumbing.OFSDeltaObject, 4), 14), []byte{5, 5, 0x90, 5}))
	f.Fuzz(func(t *testing.T, data []byte) {
		const room = 8 << 10
		got, err := unpack(bytes.NewReader(data), room, false)
		if err != nil {
			return
		}
		if got.cost > room {
			t.Errorf("%d bytes are kept", got.cost)
		}
		for name, o := range got.Objects {
			if !o.cut && plumbing.ComputeHash(o.Kind, o.Content) != name {
				t.Errorf("%s is kept as %s", o.Content, name)
			}
		}
	})
}
