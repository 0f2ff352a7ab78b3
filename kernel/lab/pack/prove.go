package pack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"noema/cache"
	"noema/cache/packfile"
	"noema/kernel/result/record"
	"noema/kernel/run/runner"
)

// proofName is the entry of a pack that proves one trial.
const proofName = "proof.json"

// maxPath bounds the hashes of a proof: a tree of 2^64 leaves needs as many.
const maxPath = 64

// Proof shows that a trial is one of a run's. The run's other trials stay private: the
// proof holds only hashes of them.
type Proof struct {
	Format int             `json:"format"`
	Run    Run             `json:"run"`
	Place  int             `json:"place"` // of the trial in the run, from 0
	Path   []string        `json:"path"`  // hashes in hex, as RFC 6962 has them for an audit path
	Trial  json.RawMessage `json:"trial"` // the transcript
}

// Prove writes a pack that holds one trial of a run, what it asked and was told, and the
// proof that it belongs to the run's tree. It returns the tree's hash.
func (s Source) Prove(ctx context.Context, p *packfile.Writer, run *record.Run, trial record.TrialID) (string, error) {
	store, err := s.Lab.Store()
	if err != nil {
		return "", err
	}
	if run.Status != record.Finished {
		return "", fmt.Errorf("prove trial %s of run %q: the run is not finished: run its command again to finish it", trial, run.ID)
	}
	w := &writer{Source: s, store: store, pack: p, keys: keys{}}
	proof, err := w.proof(ctx, run, trial)
	if err != nil {
		return "", fmt.Errorf("prove trial %s of run %q: %w", trial, run.ID, err)
	}
	raw, err := record.Marshal(proof)
	if err != nil {
		return "", err
	}
	if err := errors.Join(p.Add(proofName, append(raw, '\n')), w.keys.write(ctx, store, p, nil)); err != nil {
		return "", err
	}
	_, err = p.Close()
	return proof.Run.Tree, err
}

func (w *writer) proof(ctx context.Context, run *record.Run, trial record.TrialID) (*Proof, error) {
	tree, place := &Tree{}, slices.Index(run.Trials(), trial)
	if place < 0 {
		return nil, fmt.Errorf("the run has no such trial")
	}
	for t, err := range runner.Trials(ctx, w.store, run) {
		if err == nil && t.ID == trial {
			err = w.keys.addTrial(t)
		}
		if err == nil {
			err = tree.Add(t.ID, t.Hash)
		}
		if err != nil {
			return nil, err
		}
	}
	if int(tree.size) != len(run.Trials()) {
		return nil, fmt.Errorf("the records of %d trials are missing or damaged", len(run.Trials())-int(tree.size))
	}
	path, err := tlog.ProveRecord(tree.size, int64(place), tree)
	if err != nil {
		return nil, err
	}
	proof := &Proof{Format: Format, Place: place}
	for _, h := range path {
		proof.Path = append(proof.Path, hex.EncodeToString(h[:]))
	}
	if proof.Run, err = runOf(run, tree); err != nil {
		return nil, err
	}
	proof.Trial, err = w.store.Trial(ctx, run.ID, trial.String())
	return proof, err
}

// proof checks a pack that proves one trial.
func (x *verification) proof(ctx context.Context) {
	proof, trial, err := readProof(x.pack)
	if !x.claim("", "the proof can be read", err) {
		return
	}
	run := proof.Run
	ok := x.claim(run.ID, fmt.Sprintf("trial %s has the hash of its transcript", trial.ID), sealed(trial))
	ok = x.claim(run.ID, fmt.Sprintf("the answers to its %d calls are there", len(trial.Calls)), x.answers(ctx, trial)) && ok
	x.unchecked(run.ID, "the run, its task and its model, and the trial's costs and target", "no hash of the proof covers them: the run's own pack has them, and the same tree")
	ok = x.claim("", "written again from what it holds, it is the same in every byte", x.proofAgain(ctx, proof, trial)) && ok
	if trial.Infra {
		x.unchecked(run.ID, "why trial "+trial.ID.String()+" failed", "its infrastructure failed, and its hash covers only that")
	}
	ok = x.claim(run.ID, fmt.Sprintf("it is trial %d of %d in the tree %s", proof.Place+1, run.Trials, run.Tree), proof.check(trial)) && ok
	x.verdict.Runs = append(x.verdict.Runs, Checked{Run: run.ID, Same: ok, Tree: run.Tree})
}

// proofAgain is again for a pack that proves one trial.
func (x *verification) proofAgain(ctx context.Context, proof *Proof, trial *record.Trial) error {
	again, bare := *proof, *trial
	again.Format = Format
	bare.Transcript = nil
	said, err := record.Marshal(bare)
	if err == nil {
		again.Trial, err = record.Marshal(trial)
	}
	if err != nil {
		return err
	}
	run, err := record.Marshal(proof.Run)
	if err != nil {
		return err
	}
	raw, err := record.Marshal(again)
	if err != nil {
		return err
	}
	x.said(proof.Run.ID, "run", brief(string(run)))
	x.said(proof.Run.ID, "trial without its calls and events", brief(string(said)))
	x.said(proof.Run.ID, "its transcript", fmt.Sprintf("sha256 %.16x", sha256.Sum256(again.Trial)))
	x.study = &Study{Runs: []Run{proof.Run}}
	_, err = x.pack.Again(func(w *packfile.Writer) error {
		y := &rewriter{x: x, w: &writer{pack: w}, recordKeys: keys{}}
		if err := errors.Join(w.Add(proofName, append(raw, '\n')), y.recordKeys.addTrial(trial)); err != nil {
			return err
		}
		return y.records(ctx)
	}, x.differs)
	return err
}

func readProof(p *packfile.File) (*Proof, *record.Trial, error) {
	raw, err := p.Read(proofName)
	if err != nil {
		return nil, nil, err
	}
	var proof Proof
	if err := json.Unmarshal(raw, &proof); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", proofName, err)
	}
	if proof.Format > Format {
		return nil, nil, fmt.Errorf("read %s: its format is %d, and this noema reads up to %d: use a newer noema", proofName, proof.Format, Format)
	}
	trial, err := record.UnmarshalTrial(proof.Trial)
	return &proof, trial, err
}

// sealed reports whether a trial's hash is that of its transcript.
func sealed(t *record.Trial) error {
	again := *t
	if err := again.Seal(); err != nil {
		return err
	}
	if again.Hash != t.Hash {
		return fmt.Errorf("trial %s: its transcript has the hash %.12s, and it says %.12s", t.ID, again.Hash, t.Hash)
	}
	return nil
}

// check reports whether the path leads from the trial to the tree's hash.
func (p *Proof) check(t *record.Trial) error {
	if len(p.Path) > maxPath {
		return fmt.Errorf("its path has %d hashes", len(p.Path))
	}
	path := make(tlog.RecordProof, len(p.Path))
	for i, text := range p.Path {
		h, err := hashOf(text)
		if err != nil {
			return err
		}
		path[i] = h
	}
	root, err := hashOf(p.Run.Tree)
	if err != nil {
		return err
	}
	if p.Place < 0 || p.Place >= p.Run.Trials {
		return fmt.Errorf("place %d is outside of %d trials", p.Place+1, p.Run.Trials)
	}
	return tlog.CheckRecord(path, int64(p.Run.Trials), root, int64(p.Place), tlog.RecordHash(leaf(t.ID, t.Hash)))
}

func hashOf(text string) (h tlog.Hash, err error) {
	raw, err := hex.DecodeString(text)
	if err == nil && len(raw) != len(h) {
		err = fmt.Errorf("hash %q has %d bytes", text, len(raw))
	}
	copy(h[:], raw)
	return h, err
}

// answers reports whether the pack holds what each call of a trial was answered with.
func (x *verification) answers(ctx context.Context, t *record.Trial) error {
	if _, err := addRecords(ctx, x.pack, x.store, false); err != nil {
		return err
	}
	for _, c := range slices.Concat(t.Calls, t.Grading) {
		if c.Fault != "" {
			continue
		}
		digest, err := answerDigest(ctx, x.store, c)
		if err == nil && digest != c.Digest {
			err = fmt.Errorf("its answer has the digest %.12s, and the transcript says %.12s", digest, c.Digest)
		}
		if err != nil {
			return fmt.Errorf("trial %s, call %s: %w", t.ID, c.Path, err)
		}
	}
	return nil
}

// answerDigest is that of the recorded answer to a call.
func answerDigest(ctx context.Context, store *cache.Store, c record.Call) (string, error) {
	key, err := cache.ParseKey(c.Key)
	if err != nil {
		return "", err
	}
	switch c.Kind {
	case record.CompletionCall:
		r, err := store.Completion(ctx, key)
		return record.ResponseDigest(r.Completion), err
	case record.ToolCall:
		r, err := store.ToolResult(ctx, key)
		return record.ToolDigest(r.Result), err
	}
	r, err := store.Seed(ctx, key)
	return record.BytesDigest(r.Data), err
}
