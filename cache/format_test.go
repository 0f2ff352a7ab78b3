package cache

import (
	"crypto/sha256"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"

	"noema/cache/internal/kv"
	"noema/cache/internal/recordpb"
	"noema/methods/methodspb"
)

// TestFormatIsRaised: a change of what records hold raises kv.Format with its reason, so
// that an older noema says that it is too old instead of dropping what it does not know.
func TestFormatIsRaised(t *testing.T) {
	const knownFormat, known = 4, "fda1bb63dc75e5aa cqvoesrtbl 1"
	var raw []byte
	for _, file := range []protoreflect.FileDescriptor{methodspb.File_methods_methodspb_methods_proto, recordpb.File_cache_internal_recordpb_record_proto} {
		d := protodesc.ToFileDescriptorProto(file)
		d.SourceCodeInfo = nil
		var err error
		if raw, err = (proto.MarshalOptions{Deterministic: true}).MarshalAppend(raw, d); err != nil {
			t.Fatal(err)
		}
	}
	now := fmt.Sprintf("%.8x %s %d", sha256.Sum256(raw), prefixes, envelopeFormat)
	if now != known || kv.Format != knownFormat {
		t.Errorf("records are now %q in format %d; they were %q in format %d: if what they hold has changed, raise kv.Format, say why there, and write both here", now, kv.Format, known, knownFormat)
	}
}
