package cafes

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// fixture is a small folder in the data format, with everything in it that
// must be parsed or must not be shown.
func fixture() map[string]string {
	return map[string]string{
		"restaurants.jsonl": "\ufeff" + `{"business_id":"b0","name":"Tin Kettle","address":"1 Mill Rd","stars":4.5,"review_count":2,"is_open":1,"categories":"Cafes, Tea Rooms","attributes":{"WiFi":"u'free'","GoodForKids":"True","HasTV":"None","RestaurantsPriceRange2":"2","Ambience":"{'hipster': True, u'classy': None}","Music":"not a literal"},"hours":{"Monday":"8:0-15:30","Friday":"18:0-2:0"},"llm_score":88,"llm_reasoning":"fits the request","gold":true}` + "\r\n\r\n" +
			`{"business_id":"b1","name":"Red Door","categories":null,"attributes":"{'WiFi': 'no', 'DriveThru': False}","hours":null,"condition_cache":{"R1":true}}` + "\n" +
			`{"business_id":"b2","name":"Blue Door","categories":["Cafes"],"attributes":null,"hours":{"Sunday":null}}` + "\n",
		"reviews.jsonl": `{"review_id":"r0","business_id":"b0","user_id":"u7","stars":5.0,"text":"Warm scones.","date":"2021-03-04 10:11:12","useful":3,"aspect":"scones","llm_scores":[1],"user":{"name":"Mei","friends":["Otto","Nobody"],"average_stars":3.4,"elite":[2019],"compliments":9}}` + "\n" +
			`{"business_id":"b1","user_id":"u8","text":"Loud music.","user":{"name":"Otto","friends":"Mei, Ghost"}}` + "\n" +
			`{"business_id":"b2","user_id":"u9","text":"Quick.","user":null}`,
		"requests.jsonl": `{"id":"R1","group":"G01","text":"scones and free wifi, says Mei","scenario":"Tea Lover","shorthand":"AND(a, b)","structure":{"op":"AND","args":[{"aspect":"scones","evidence":{"kind":"review_text","pattern":"scone"}},{"op":"OR","args":[{"aspect":"wifi","evidence":{"kind":"item_meta","path":["attributes","WiFi"],"true":"u'free'"}}]}]},"gold_restaurant":"b0"}` + "\n" +
			`{"id":"R2","text":"no wifi"}` + "\n" + `{"id":"R3","text":"undecided"}`,
		"groundtruth.jsonl": `{"request_id":"R1","gold_restaurant":"b0","gold_idx":0,"status":"ok"}` + "\n" +
			`{"request_id":"R2","gold_restaurant":"b1"}` + "\n" + `{"request_id":"R3","gold_restaurant":"b2","status":"ambiguous"}` + "\n",
	}
}

func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "teahouses")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestLoadDir(t *testing.T) {
	tk, err := LoadDir(write(t, fixture()), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if tk.Name != "teahouses" || len(tk.Samples) != 2 || tk.Config != "limit=0&n=3&seed=0" {
		t.Fatalf("got %q, %d samples, %q", tk.Name, len(tk.Samples), tk.Config)
	}
	s := tk.Samples[0]
	if s.ID != "R1" || s.Group != "G01" || s.Problem.Answer.N != 3 || s.Problem.Answer.K != 3 || s.Metadata["evidence"] != "item_meta,review_text" {
		t.Errorf("got %+v", s)
	}
	var got struct {
		Friends map[string][]string
		Items   []map[string]any
	}
	if err := json.Unmarshal(s.Problem.Context, &got); err != nil {
		t.Fatal(err)
	}
	var gold []int
	if err := json.Unmarshal(s.Target, &gold); err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal([]byte(`{
		"name": "Tin Kettle", "stars": 4.5, "review_count": 2, "categories": ["Cafes", "Tea Rooms"],
		"attributes": {"WiFi": "free", "GoodForKids": true, "HasTV": null, "RestaurantsPriceRange2": 2,
			"Ambience": {"hipster": true, "classy": null}, "Music": "not a literal"},
		"hours": {"Monday": "8:00-15:30", "Friday": "18:00-2:00"},
		"reviews": [{"author": "Mei", "friends": ["Otto"], "stars": 5, "date": "2021-03-04", "text": "Warm scones.", "useful": 3,
			"user": {"average_stars": 3.4, "elite": [2019]}}]}`), &want); err != nil {
		t.Fatal(err)
	}
	if item := got.Items[gold[0]-1]; !reflect.DeepEqual(item, want) {
		t.Errorf("got  %v\nwant %v", item, want)
	}
	if want := map[string][]string{"Mei": {"Otto"}, "Otto": {"Mei"}}; !reflect.DeepEqual(got.Friends, want) {
		t.Errorf("friends %v, want %v", got.Friends, want)
	}
	shown := string(s.Problem.Context) + s.Problem.Query
	for _, leak := range []string{"88", "fits the request", "llm", "gold", "cache", "aspect", "structure", "AND(", "Mill Rd", "b0", "Tea Lover", "compliments"} {
		if strings.Contains(shown, leak) {
			t.Errorf("the problem shows %q", leak)
		}
	}
	notes := strings.Join(tk.Notes, "\n")
	for _, dropped := range []string{"restaurants.llm_score,", "restaurants.condition_cache", "reviews.aspect", "reviews.user.compliments",
		"requests.structure", "requests.gold_restaurant", "requests.shorthand", "R3"} {
		if !strings.Contains(notes, dropped) {
			t.Errorf("the notes do not name %q: %s", dropped, notes)
		}
	}
}

func TestLoadDirPeople(t *testing.T) {
	files := fixture()
	files["user_mapping.json"] = `{"friend_graph":{"Ida":["Lev"],"Lev":["Ida","Nobody"]},
		"review_assignments":{"0":[{"review_idx":0,"name":"Lev","friends":["Ida"]},{"review_idx":9,"name":"Ida"}]},
		"gold_markers":[{"request_id":"R1","restaurant_idx":0}]}`
	files["requests.jsonl"] = strings.Replace(files["requests.jsonl"], "says Mei", "says a friend of Ida", 1)
	tk, err := LoadDir(write(t, files), DirOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shown := string(tk.Samples[0].Problem.Context)
	for _, part := range []string{`"author":"Lev","friends":["Ida"]`, `"Ida":["Lev"]`, `"Lev":["Ida"]`} {
		if !strings.Contains(shown, part) {
			t.Errorf("%s is not in %s", part, shown)
		}
	}
	if notes := strings.Join(tk.Notes, " "); !strings.Contains(notes, "the writers of 1 reviews that are not in reviews.jsonl") {
		t.Errorf("the notes are silent about the stray name: %s", notes)
	}
	if strings.Contains(shown, "marker") {
		t.Error("the problem shows the gold markers")
	}
}

func TestLoadDirOptions(t *testing.T) {
	dir := write(t, fixture())
	two, err := LoadDir(dir, DirOptions{N: 2, Limit: 1, Seed: 4})
	if err != nil || len(two.Samples) != 1 || two.Samples[0].Problem.Answer.N != 2 {
		t.Fatalf("got %+v, %v", two, err)
	}
	again, err := LoadDir(dir, DirOptions{N: 2, Limit: 1, Seed: 4})
	if err != nil || !reflect.DeepEqual(again, two) {
		t.Errorf("the same options gave another task: %v", err)
	}
	if _, err := LoadDir(dir, DirOptions{N: 4}); err == nil || !strings.Contains(err.Error(), "n is 4, but restaurants.jsonl has 3") {
		t.Errorf("n = 4: %v", err)
	}
}

func TestLoadDirFaults(t *testing.T) {
	for name, test := range map[string]struct{ file, old, new, want string }{
		"malformed":            {"reviews.jsonl", `"text":"Loud music."`, `"text":Loud`, `reviews.jsonl:2:43: invalid character 'L'`},
		"wrong type":           {"restaurants.jsonl", `"stars":4.5`, `"stars":"many"`, "restaurants.jsonl:1:"},
		"bad hours":            {"restaurants.jsonl", `8:0-15:30`, `8-15`, `restaurants.jsonl:1:1: hours of "Tin Kettle": Monday is 8-15`},
		"hours out of range":   {"restaurants.jsonl", `8:0-15:30`, `8:0-25:30`, `Monday is 8:0-25:30`},
		"hours with a tail":    {"restaurants.jsonl", `8:0-15:30`, `8:0-15:30 or so`, `Monday is`},
		"no such day":          {"restaurants.jsonl", `"Monday"`, `"Caturday"`, `"Caturday" is not a day such as Monday`},
		"twice":                {"restaurants.jsonl", `"b1"`, `"b0"`, `restaurants.jsonl:3:1: business_id "b0" appears twice`},
		"nameless":             {"restaurants.jsonl", `"Red Door"`, `""`, "restaurants.jsonl:3:1: a restaurant needs"},
		"stray review":         {"reviews.jsonl", `"b2"`, `"b9"`, `reviews.jsonl:3:1: business_id "b9" is not in restaurants.jsonl`},
		"unknown request":      {"groundtruth.jsonl", `"R2"`, `"R9"`, `groundtruth.jsonl:2:1: request "R9" is not in requests.jsonl`},
		"two truths":           {"groundtruth.jsonl", `"R2"`, `"R1"`, `groundtruth.jsonl:2:1: request "R1" has a ground truth already`},
		"wrong index":          {"groundtruth.jsonl", `"gold_idx":0`, `"gold_idx":1`, `groundtruth.jsonl:1:1: gold_idx of request "R1" is 1`},
		"contradiction":        {"groundtruth.jsonl", `"gold_restaurant":"b0","gold_idx":0`, `"gold_restaurant":"b1"`, `is "b1", but "b0" in requests.jsonl:1`},
		"unknown gold":         {"groundtruth.jsonl", `"b1"`, `"b7"`, `gold_restaurant "b7" of request "R2" is not in restaurants.jsonl`},
		"no truth":             {"groundtruth.jsonl", `{"request_id":"R2","gold_restaurant":"b1"}`, ``, `requests.jsonl:2: request "R2" is not in groundtruth.jsonl`},
		"request twice":        {"requests.jsonl", `"R2"`, `"R1"`, `requests.jsonl:2:1: request "R1" appears twice`},
		"broken structure":     {"requests.jsonl", `"op":"OR"`, `"op":"XOR"`, `requests.jsonl:1:1: structure of request "R1"`},
		"request without text": {"requests.jsonl", `"no wifi"`, `""`, "requests.jsonl:2:1: a request needs an id and a text"},
	} {
		t.Run(name, func(t *testing.T) {
			files := fixture()
			if !strings.Contains(files[test.file], test.old) {
				t.Fatalf("the fixture has no %s", test.old)
			}
			files[test.file] = strings.Replace(files[test.file], test.old, test.new, 1)
			if _, err := LoadDir(write(t, files), DirOptions{}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
	for name := range fixture() {
		files := maps.Clone(fixture())
		delete(files, name)
		if _, err := LoadDir(write(t, files), DirOptions{}); err == nil || !strings.Contains(err.Error(), name+" is missing") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	files := fixture()
	files["user_mapping.json"] = `{"friend_graph":[1]}`
	if _, err := LoadDir(write(t, files), DirOptions{}); err == nil || !strings.Contains(err.Error(), `user_mapping.json:1: "friend_graph" must be an object, not a list`) {
		t.Errorf("malformed people: %v", err)
	}
}

// TestItemsAsInANoT: every request shows the same items, and those whose right one is
// not among them are left out; the drawn ones stay what they were.
func TestItemsAsInANoT(t *testing.T) {
	files := fixture()
	files["requests.jsonl"] += "\n" + `{"id":"R4","text":"loud music"}`
	files["groundtruth.jsonl"] += `{"request_id":"R4","gold_restaurant":"b1"}` + "\n"
	dir := write(t, files)
	tk, err := LoadDir(dir, DirOptions{N: 2, Items: "frequent"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"[1]", "[2]", "[2]"} { // b0 and b1 are right; b2 only in a request that is not settled
		if s := tk.Samples[i]; string(s.Target) != want || !strings.Contains(string(s.Problem.Context), "Tin Kettle") || strings.Contains(string(s.Problem.Context), "Blue Door") {
			t.Errorf("%s: target %s of %s", s.ID, s.Target, s.Problem.Context)
		}
	}
	if tk.Config != "limit=0&n=2&seed=0&items=frequent" || len(tk.Samples) != 3 {
		t.Errorf("%d samples, config %s", len(tk.Samples), tk.Config)
	}
	delete(files, "user_mapping.json")
	files["groundtruth.jsonl"] = strings.ReplaceAll(files["groundtruth.jsonl"], `"status":"ambiguous"`, `"status":"ok"`)
	if tk, err = LoadDir(write(t, files), DirOptions{N: 2, Items: "frequent"}); err != nil || len(tk.Samples) != 3 {
		t.Errorf("R3 asks for an item that is not shown: %v, %v", tk, err)
	}
}
