// Level 3: a resource of a skill lies inside the skill's directory. Which paths are accepted, and why none of them
// leads out. A path is walked as POSIX walks it in a tree without links; that no link is followed is what the
// operating system is asked for when a file is opened, and is not part of the model.

include "Text.dfy"

module Containment {
  import opened Text

  type Path = seq<string>

  // ── the text of a path ──

  predicate method IsLetter(c: char) { 'a' <= c <= 'z' || 'A' <= c <= 'Z' }

  predicate method IsSurrogate(c: char) { '\uD800' <= c <= '\uDFFF' }

  predicate method BeginsWithDrive(p: string) { |p| >= 2 && IsLetter(p[0]) && p[1] == ':' }

  predicate method IsRelative(p: string) { p != "" && p[0] != '/' && !BeginsWithDrive(p) }

  predicate method HasOnlyPlainChars(p: string) {
    forall i :: 0 <= i < |p| ==> p[i] != '\0' && p[i] != '\\' && !IsSurrogate(p[i])
  }

  // `a..b.md` is an ordinary name: two dots lead up only where they are the whole component.
  predicate method HasNoParentComponent(p: string) { ".." !in Split(p, '/') }

  predicate method IsValidResourcePath(p: string) {
    IsRelative(p) && HasOnlyPlainChars(p) && HasNoParentComponent(p)
  }

  predicate method Stays(part: string) { part == "" || part == "." }

  function method WithoutStaying(parts: Path): Path
    ensures forall p :: p in WithoutStaying(parts) ==> p in parts && !Stays(p)
    decreases |parts|
  {
    if |parts| == 0 then []
    else if Stays(parts[0]) then WithoutStaying(parts[1..])
    else [parts[0]] + WithoutStaying(parts[1..])
  }

  function method Components(p: string): Path { WithoutStaying(Split(p, '/')) }

  method CheckRelative(p: string) returns (components: Option<Path>)
    ensures components.Some? <==> IsValidResourcePath(p)
    ensures components.Some? ==> components.value == Components(p)
    ensures components.Some? ==> forall c :: c in components.value ==> IsSafeComponent(c)
  {
    if p == "" || p[0] == '/' || BeginsWithDrive(p) {
      return None;
    }
    var i := 0;
    while i < |p|
      invariant 0 <= i <= |p|
      invariant forall j :: 0 <= j < i ==> p[j] != '\0' && p[j] != '\\' && !IsSurrogate(p[j])
    {
      if p[i] == '\0' || p[i] == '\\' || IsSurrogate(p[i]) {
        return None;
      }
      i := i + 1;
    }
    var parts := Split(p, '/');
    if ".." in parts {
      return None;
    }
    ComponentsAreSafe(p);
    return Some(WithoutStaying(parts));
  }

  predicate IsSafeComponent(c: string) {
    c != "" && c != "." && c != ".." && '/' !in c && '\\' !in c && '\0' !in c
  }

  lemma ComponentsAreSafe(p: string)
    requires IsValidResourcePath(p)
    ensures forall c :: c in Components(p) ==> IsSafeComponent(c)
  {
    assert '\\' !in p && '\0' !in p;
    PartsComeFromTheText(p, '/', '\\');
    PartsComeFromTheText(p, '/', '\0');
  }

  // ── walking ──

  // The root of the file system is its own parent.
  function Step(at: Path, part: string): Path {
    if Stays(part) then at
    else if part == ".." then (if |at| == 0 then [] else at[..|at| - 1])
    else at + [part]
  }

  function Walk(at: Path, parts: Path): Path
    decreases |parts|
  {
    if |parts| == 0 then at else Walk(Step(at, parts[0]), parts[1..])
  }

  predicate Inside(root: Path, place: Path) { |root| <= |place| && place[..|root|] == root }

  predicate NeverLeaves(root: Path, parts: Path) {
    forall k :: 0 <= k <= |parts| ==> Inside(root, Walk(root, parts[..k]))
  }

  lemma WalkAppends(at: Path, a: Path, b: Path)
    ensures Walk(at, a + b) == Walk(Walk(at, a), b)
    decreases |a|
  {
    if |a| == 0 {
      assert a + b == b;
    } else {
      assert (a + b)[1..] == a[1..] + b;
      WalkAppends(Step(at, a[0]), a[1..], b);
    }
  }

  lemma WalkingDown(at: Path, parts: Path)
    requires ".." !in parts
    ensures Walk(at, parts) == at + WithoutStaying(parts)
    decreases |parts|
  {
    if |parts| > 0 {
      WalkingDown(Step(at, parts[0]), parts[1..]);
      if !Stays(parts[0]) {
        assert (at + [parts[0]]) + WithoutStaying(parts[1..]) == at + WithoutStaying(parts);
      }
    }
  }

  // The theorem of level 3: from any root, an accepted path ends below it and is below it at every step.
  lemma AcceptedPathsAreContained(root: Path, p: string)
    requires IsValidResourcePath(p)
    ensures Walk(root, Split(p, '/')) == root + Components(p)
    ensures NeverLeaves(root, Split(p, '/'))
  {
    var parts := Split(p, '/');
    WalkingDown(root, parts);
    forall k | 0 <= k <= |parts| ensures Inside(root, Walk(root, parts[..k])) {
      WalkingDown(root, parts[..k]);
    }
  }

  // Two accepted paths with the same components mean the same place, and no others do.
  lemma PlacesAreComponents(root: Path, p: string, q: string)
    requires IsValidResourcePath(p) && IsValidResourcePath(q)
    ensures Walk(root, Split(p, '/')) == Walk(root, Split(q, '/')) <==> Components(p) == Components(q)
  {
    AcceptedPathsAreContained(root, p);
    AcceptedPathsAreContained(root, q);
    if root + Components(p) == root + Components(q) {
      assert Components(p) == (root + Components(p))[|root|..];
      assert Components(q) == (root + Components(q))[|root|..];
    }
  }

  // What a backslash would separate on another system does not matter: there is none.
  lemma OtherSeparatorsChangeNothing(p: string)
    requires IsValidResourcePath(p)
    ensures Split(p, '\\') == [p]
  {
    assert '\\' !in p;
    WithoutSeparatorThereIsOnePart(p, '\\');
  }

  // ── links in the text of a skill may go up and come back ──

  // The components that are left when every `..` has taken one away; none where there is nothing to take.
  function method InnerComponents(parts: Path, below: Path): Option<Path>
    decreases |parts|
  {
    if |parts| == 0 then Some(below)
    else if Stays(parts[0]) then InnerComponents(parts[1..], below)
    else if parts[0] != ".." then InnerComponents(parts[1..], below + [parts[0]])
    else if |below| == 0 then None
    else InnerComponents(parts[1..], below[..|below| - 1])
  }

  lemma StepFromBelow(root: Path, below: Path, part: string)
    requires part != ".." || |below| > 0
    ensures Step(root + below, part) ==
      root + (if Stays(part) then below else if part == ".." then below[..|below| - 1] else below + [part])
  {
    if !Stays(part) && part != ".." {
      assert (root + below) + [part] == root + (below + [part]);
    } else if part == ".." {
      assert (root + below)[..|root + below| - 1] == root + below[..|below| - 1];
    }
  }

  lemma InnerStepsAreContained(root: Path, below: Path, parts: Path)
    requires InnerComponents(parts, below).Some?
    ensures Walk(root + below, parts) == root + InnerComponents(parts, below).value
    ensures forall k :: 0 <= k <= |parts| ==> Inside(root, Walk(root + below, parts[..k]))
    decreases |parts|
  {
    if |parts| > 0 {
      var part := parts[0];
      var next := if Stays(part) then below else if part == ".." then below[..|below| - 1] else below + [part];
      StepFromBelow(root, below, part);
      InnerStepsAreContained(root, next, parts[1..]);
      forall k | 0 <= k <= |parts| ensures Inside(root, Walk(root + below, parts[..k])) {
        if k > 0 {
          assert parts[..k][1..] == parts[1..][..k - 1];
          assert Inside(root, Walk(root + next, parts[1..][..k - 1]));
        }
      }
    }
  }

  lemma InnerStepsElseLeave(root: Path, below: Path, parts: Path) returns (k: nat)
    requires InnerComponents(parts, below).None? && |root| > 0
    ensures k <= |parts| && !Inside(root, Walk(root + below, parts[..k]))
    decreases |parts|
  {
    var part := parts[0];
    if part == ".." && |below| == 0 {
      k := 1;
      assert parts[..1] == [".."];
      assert root + below == root;
      assert Walk(Step(root, ".."), []) == root[..|root| - 1];
      assert parts[..1][1..] == [];
    } else {
      var next := if Stays(part) then below else if part == ".." then below[..|below| - 1] else below + [part];
      StepFromBelow(root, below, part);
      var rest := InnerStepsElseLeave(root, next, parts[1..]);
      k := rest + 1;
      assert parts[..k][1..] == parts[1..][..rest];
    }
  }

  // A link is refused exactly when its walk is outside at some step, wherever the skill lies.
  lemma LinksAreContainedExactly(root: Path, parts: Path)
    requires |root| > 0
    ensures InnerComponents(parts, []).Some? <==> NeverLeaves(root, parts)
    ensures InnerComponents(parts, []).Some? ==> Walk(root, parts) == root + InnerComponents(parts, []).value
  {
    assert root + [] == root;
    if InnerComponents(parts, []).Some? {
      InnerStepsAreContained(root, [], parts);
      forall k | 0 <= k <= |parts| ensures Inside(root, Walk(root, parts[..k])) {
        assert Inside(root, Walk(root + [], parts[..k]));
      }
      assert NeverLeaves(root, parts);
    } else {
      var k := InnerStepsElseLeave(root, [], parts);
      assert !Inside(root, Walk(root + [], parts[..k]));
      assert !NeverLeaves(root, parts);
    }
  }

  lemma AcceptedPathsAreInnerPaths(parts: Path, below: Path)
    requires ".." !in parts
    ensures InnerComponents(parts, below) == Some(below + WithoutStaying(parts))
    decreases |parts|
  {
    if |parts| > 0 {
      if Stays(parts[0]) {
        AcceptedPathsAreInnerPaths(parts[1..], below);
      } else {
        AcceptedPathsAreInnerPaths(parts[1..], below + [parts[0]]);
        assert (below + [parts[0]]) + WithoutStaying(parts[1..]) == below + WithoutStaying(parts);
      }
    } else {
      assert below + [] == below;
    }
  }

  // ── the examples of the sources ──

  lemma PathExamples()
    ensures IsValidResourcePath("a")
    ensures !IsValidResourcePath("")
    ensures !IsValidResourcePath("/etc/passwd")
    ensures !IsValidResourcePath("C:x")
    ensures !IsValidResourcePath("..")
    ensures !IsValidResourcePath("a\\b")
  {
    assert Split("a", '/') == ["a"] by { WithoutSeparatorThereIsOnePart("a", '/'); }
    assert Split("..", '/') == [".."] by { WithoutSeparatorThereIsOnePart("..", '/'); }
    assert "a\\b"[1] == '\\';
  }

  lemma ClimbingExamples(a: string, b: string)
    ensures !IsValidResourcePath(".." + "/" + a)
    ensures !IsValidResourcePath(a + "/" + "..")
    ensures !IsValidResourcePath(a + "/" + (".." + "/" + b))
  {
    WithoutSeparatorThereIsOnePart("..", '/');
    SplitAtSeparator("..", a, '/');
    SplitAtSeparator(a, "..", '/');
    SplitAtSeparator("..", b, '/');
    SplitAtSeparator(a, ".." + "/" + b, '/');
  }
}
