// What a valid skill is: its fields, its directory, the three levels at which it is disclosed, and all of it together.
// Formal specification 000, parts 1 to 6 and 12. The model describes the boxxy profile: ASCII names, 500 lines at most.

include "Text.dfy"
include "Names.dfy"
include "Containment.dfy"

module AgentSkills {
  import opened Text
  import opened Names
  import opened Containment

  const MAX_DESCRIPTION_LENGTH := 1024
  const MAX_COMPATIBILITY_LENGTH := 500
  const MAX_BODY_LINES := 500
  const MAX_BODY_TOKENS := 5000
  const CHARS_PER_TOKEN := 4
  const MAX_METADATA_TOKENS := 100

  // ── fields ──

  predicate method IsValidDescription(d: string) { 1 <= |d| <= MAX_DESCRIPTION_LENGTH }

  predicate method IsValidCompatibility(c: Option<string>) {
    c.Some? ==> 1 <= |c.value| <= MAX_COMPATIBILITY_LENGTH
  }

  predicate method IsValidLicense(l: Option<string>) { true }

  function method FieldNames(): seq<string> {
    ["name", "description", "license", "compatibility", "metadata", "allowed-tools"]
  }

  predicate method IsAllowedFieldName(key: string) { key in FieldNames() }

  predicate method HasNoUnknownFields(keys: seq<string>) {
    forall i :: 0 <= i < |keys| ==> IsAllowedFieldName(keys[i])
  }

  predicate method HasUniqueKeys(keys: seq<string>) {
    forall i :: 0 <= i < |keys| ==> forall j :: i < j < |keys| ==> keys[i] != keys[j]
  }

  predicate method IsValidMetadataKey(key: string) { key != "" }

  predicate method IsValidMetadataMap(keys: seq<string>) {
    HasUniqueKeys(keys) && forall i :: 0 <= i < |keys| ==> IsValidMetadataKey(keys[i])
  }

  lemma UniqueKeysAreDistinct(keys: seq<string>)
    ensures HasUniqueKeys(keys) <==> NoDuplicates(keys)
  {
  }

  // ── allowed-tools: a row of Name or Name(pattern), separated by blanks or commas ──

  datatype Reading = Gap(afterComma: bool) | Name | Inside(depth: nat, filled: bool) | Closed | Fault

  predicate method IsBlank(c: char) { c == ' ' || c == '\t' || c == '\r' || c == '\n' }

  function method ReadChar(r: Reading, c: char): Reading {
    match r
    case Fault => Fault
    case Gap(afterComma) =>
      if IsBlank(c) then r
      else if c == ',' then (if afterComma then Fault else Gap(true))
      else if c == '(' || c == ')' then Fault
      else Name
    case Name =>
      if IsBlank(c) then Gap(false)
      else if c == ',' then Gap(true)
      else if c == '(' then Inside(1, false)
      else if c == ')' then Fault
      else Name
    case Inside(depth, filled) =>
      if c == '(' then Inside(depth + 1, true)
      else if c == ')' then (if depth > 1 then Inside(depth - 1, true) else if filled then Closed else Fault)
      else Inside(depth, filled || !IsBlank(c))
    case Closed =>
      if IsBlank(c) then Gap(false) else if c == ',' then Gap(true) else Fault
  }

  function ReadTools(s: string): Reading
    decreases |s|
  {
    if |s| == 0 then Gap(true) else ReadChar(ReadTools(s[..|s| - 1]), s[|s| - 1])
  }

  predicate IsValidAllowedTools(s: string) { var end := ReadTools(s); end.Gap? || end.Name? || end.Closed? }

  method ScanTools(s: string) returns (ok: bool)
    ensures ok <==> IsValidAllowedTools(s)
  {
    var reading := Gap(true);
    var i := 0;
    while i < |s|
      invariant 0 <= i <= |s|
      invariant reading == ReadTools(s[..i])
    {
      assert s[..i + 1][..i] == s[..i];
      reading := ReadChar(reading, s[i]);
      i := i + 1;
    }
    assert s[..|s|] == s;
    return reading.Gap? || reading.Name? || reading.Closed?;
  }

  function Depth(s: string): int
    decreases |s|
  {
    if |s| == 0 then 0
    else Depth(s[..|s| - 1]) + (if s[|s| - 1] == '(' then 1 else if s[|s| - 1] == ')' then -1 else 0)
  }

  // The reader always knows how many parentheses are open, so in an accepted text they pair.
  lemma ParenthesesAreCounted(s: string)
    requires ReadTools(s) != Fault
    ensures Depth(s) == (if ReadTools(s).Inside? then ReadTools(s).depth else 0)
    ensures ReadTools(s).Inside? ==> ReadTools(s).depth >= 1
    ensures Depth(s) >= 0
    decreases |s|
  {
    if |s| > 0 {
      assert ReadTools(s[..|s| - 1]) != Fault;
      ParenthesesAreCounted(s[..|s| - 1]);
    }
  }

  lemma AcceptedToolsAreBalanced(s: string, k: nat)
    requires IsValidAllowedTools(s) && k <= |s|
    ensures Depth(s) == 0 && Depth(s[..k]) >= 0
  {
    ParenthesesAreCounted(s);
    FaultsStay(s, k);
    ParenthesesAreCounted(s[..k]);
  }

  lemma FaultsStay(s: string, k: nat)
    requires k <= |s| && ReadTools(s) != Fault
    ensures ReadTools(s[..k]) != Fault
    decreases |s| - k
  {
    if k < |s| {
      FaultsStay(s, k + 1);
      assert s[..k + 1][..k] == s[..k];
    } else {
      assert s[..k] == s;
    }
  }

  // ── frontmatter ──

  predicate method IsFence(line: string) {
    |line| >= 3 && line[0] == '-' && line[1] == '-' && line[2] == '-' &&
    forall i :: 3 <= i < |line| ==> line[i] == ' ' || line[i] == '\t'
  }

  predicate method HasFrontmatter(text: string) {
    var lines := Split(text, '\n');
    IsFence(lines[0]) && exists i :: 1 <= i < |lines| && IsFence(lines[i])
  }

  // Two fences and the line break between them.
  lemma FrontmatterNeedsSevenChars(text: string)
    requires HasFrontmatter(text)
    ensures |text| >= 7 && StartsWith(text, "---")
  {
    var lines := Split(text, '\n');
    var i :| 1 <= i < |lines| && IsFence(lines[i]);
    SplitLosesNothing(text, '\n');
    var first, rest := lines[0], Join(lines[1..], '\n');
    assert text == first + ['\n'] + rest;
    assert lines[1..][i - 1] == lines[i];
    JoinIsNoShorter(lines[1..], '\n', i - 1);
  }

  lemma JoinIsNoShorter(parts: seq<string>, separator: char, i: nat)
    requires i < |parts|
    ensures |Join(parts, separator)| >= |parts[i]|
    decreases |parts|
  {
    if |parts| > 1 && i > 0 {
      JoinIsNoShorter(parts[1..], separator, i - 1);
    }
  }

  datatype Frontmatter = Frontmatter(
    keys: seq<string>,
    name: string,
    description: string,
    license: Option<string>,
    compatibility: Option<string>,
    metadata: seq<string>,
    tools: string)

  predicate IsValidFrontmatter(f: Frontmatter) {
    IsValidSkillName(f.name) && IsValidDescription(f.description) && IsValidLicense(f.license) &&
    IsValidCompatibility(f.compatibility) && IsValidMetadataMap(f.metadata) &&
    HasNoUnknownFields(f.keys) && HasUniqueKeys(f.keys) && IsValidAllowedTools(f.tools)
  }

  method CheckFrontmatter(f: Frontmatter) returns (ok: bool)
    ensures ok <==> IsValidFrontmatter(f)
  {
    var name := ScanName(f.name);
    var tools := ScanTools(f.tools);
    return name && tools && IsValidDescription(f.description) && IsValidLicense(f.license) &&
      IsValidCompatibility(f.compatibility) && IsValidMetadataMap(f.metadata) &&
      HasNoUnknownFields(f.keys) && HasUniqueKeys(f.keys);
  }

  // ── the body ──

  // A line break at the end adds no line.
  function Lines(body: string): nat {
    Breaks(body) + (if |body| > 0 && body[|body| - 1] != '\n' then 1 else 0)
  }

  function Breaks(body: string): nat
    decreases |body|
  {
    if |body| == 0 then 0 else Breaks(body[..|body| - 1]) + (if body[|body| - 1] == '\n' then 1 else 0)
  }

  method CountLines(body: string) returns (lines: nat)
    ensures lines == Lines(body)
  {
    lines := 0;
    var i := 0;
    while i < |body|
      invariant 0 <= i <= |body|
      invariant lines == Breaks(body[..i])
    {
      assert body[..i + 1][..i] == body[..i];
      if body[i] == '\n' {
        lines := lines + 1;
      }
      i := i + 1;
    }
    assert body[..|body|] == body;
    if |body| > 0 && body[|body| - 1] != '\n' {
      lines := lines + 1;
    }
  }

  predicate IsValidBodyLength(body: string) { Lines(body) <= MAX_BODY_LINES }

  lemma AFinalBreakAddsNoLine(body: string)
    requires |body| > 0 && body[|body| - 1] != '\n'
    ensures Lines(body + "\n") == Lines(body)
  {
    assert (body + "\n")[..|body|] == body;
  }

  lemma FiveHundredBreaksAreTheBound()
    ensures IsValidBodyLength(Repeat('\n', 500))
    ensures !IsValidBodyLength(Repeat('\n', 501))
  {
    forall n: nat ensures Breaks(Repeat('\n', n)) == n { BreaksOf(n); }
  }

  lemma BreaksOf(n: nat)
    ensures Breaks(Repeat('\n', n)) == n
  {
    if n > 0 {
      var s := Repeat('\n', n);
      assert s[..n - 1] == Repeat('\n', n - 1);
      BreaksOf(n - 1);
    }
  }

  function method EstimateTokens(chars: nat): nat { (chars + CHARS_PER_TOKEN - 1) / CHARS_PER_TOKEN }

  predicate method IsValidBodyTokens(body: string) { EstimateTokens(|body|) <= MAX_BODY_TOKENS }

  lemma TokensAreRoundedUp(chars: nat)
    ensures CHARS_PER_TOKEN * EstimateTokens(chars) >= chars
    ensures EstimateTokens(chars) > 0 ==> CHARS_PER_TOKEN * (EstimateTokens(chars) - 1) < chars
    ensures EstimateTokens(chars) <= MAX_BODY_TOKENS <==> chars <= 20000
  {
  }

  // ── the directory ──

  predicate method HasSkillMd(files: seq<string>) { "SKILL.md" in files || "skill.md" in files }

  function method SkillFile(files: seq<string>): Option<string> {
    if "SKILL.md" in files then Some("SKILL.md") else if "skill.md" in files then Some("skill.md") else None
  }

  lemma TheUpperCaseSpellingIsPreferred(files: seq<string>)
    ensures SkillFile(files).Some? <==> HasSkillMd(files)
    ensures SkillFile(files).Some? ==> SkillFile(files).value in files
    ensures "SKILL.md" in files ==> SkillFile(files) == Some("SKILL.md")
  {
  }

  predicate method IsAllowedSubdir(name: string) { name in ["scripts", "references", "assets"] }

  // Advice: other directories are allowed.
  predicate method HasOnlyKnownSubdirs(names: seq<string>) {
    forall i :: 0 <= i < |names| ==> IsAllowedSubdir(names[i])
  }

  datatype Directory = Directory(name: string, files: seq<string>)

  predicate method IsValidSkillDirectory(d: Directory) { d.name != "" && HasSkillMd(d.files) }

  // ── three levels of disclosure ──

  datatype Skill = Skill(directory: Directory, frontmatter: Frontmatter, body: string, resources: seq<string>)

  // What a model sees before anything is loaded.
  datatype Listing = Listing(name: string, description: string, body: Option<string>)

  function Listed(s: Skill): Listing { Listing(s.frontmatter.name, s.frontmatter.description, None) }

  predicate IsValidLevel1(l: Listing) {
    IsValidSkillName(l.name) && IsValidDescription(l.description) && l.body.None?
  }

  predicate IsValidLevel2(body: string) { IsValidBodyLength(body) }

  predicate IsValidLevel3(paths: seq<string>) { forall i :: 0 <= i < |paths| ==> IsValidResourcePath(paths[i]) }

  predicate IsValidSkillMeta(f: Frontmatter, parent: string) {
    IsValidSkillName(f.name) && IsValidDescription(f.description) && IsValidCompatibility(f.compatibility) &&
    (parent != "" ==> f.name == parent)
  }

  predicate IsValidFullSkill(f: Frontmatter, parent: string, body: string) {
    IsValidSkillMeta(f, parent) && IsValidBodyLength(body)
  }

  predicate IsValidCompleteSkill(s: Skill) {
    IsValidSkillDirectory(s.directory) && IsValidFrontmatter(s.frontmatter) && s.frontmatter.name == s.directory.name &&
    IsValidLevel1(Listed(s)) && IsValidLevel2(s.body) && IsValidLevel3(s.resources)
  }

  method CheckCompleteSkill(s: Skill) returns (ok: bool)
    ensures ok <==> IsValidCompleteSkill(s)
  {
    var frontmatter := CheckFrontmatter(s.frontmatter);
    var lines := CountLines(s.body);
    if !frontmatter || lines > MAX_BODY_LINES || !IsValidSkillDirectory(s.directory)
      || s.frontmatter.name != s.directory.name {
      return false;
    }
    var i := 0;
    while i < |s.resources|
      invariant 0 <= i <= |s.resources|
      invariant forall j :: 0 <= j < i ==> IsValidResourcePath(s.resources[j])
    {
      var components := CheckRelative(s.resources[i]);
      if components.None? {
        return false;
      }
      i := i + 1;
    }
    return true;
  }

  // The first level tells nothing of the body: skills that differ in it alone are listed alike.
  lemma TheListingHidesTheBody(a: Skill, b: Skill)
    requires a.frontmatter == b.frontmatter
    ensures Listed(a) == Listed(b)
  {
  }

  lemma ACompleteSkillIsAFullSkill(s: Skill)
    requires IsValidCompleteSkill(s)
    ensures IsValidFullSkill(s.frontmatter, s.directory.name, s.body)
  {
  }

  // What level 3 is for: from wherever the skill lies, none of its resources is outside.
  lemma ResourcesOfACompleteSkillAreInside(s: Skill, root: Path, i: nat)
    requires IsValidCompleteSkill(s) && i < |s.resources|
    ensures NeverLeaves(root, Split(s.resources[i], '/'))
    ensures Containment.Inside(root, Walk(root, Split(s.resources[i], '/')))
  {
    AcceptedPathsAreContained(root, s.resources[i]);
  }

  // The 100 tokens of the first level are an estimate: a valid description alone may be longer.
  lemma TheEstimateOfLevelOneDoesNotBind()
    ensures exists d :: IsValidDescription(d) && EstimateTokens(|d|) > MAX_METADATA_TOKENS
  {
    var d := Repeat('a', 401);
    assert IsValidDescription(d) && EstimateTokens(|d|) == 101;
  }

  // ── listed in a prompt ──

  predicate IsValidPromptSkill(name: string, description: string, location: string) {
    IsValidSkillName(name) && IsValidDescription(description) && location != ""
  }
}
