// Which texts are names of skills: 1 to 64 characters, words of a-z and 0-9 with single hyphens between them.
// Formal specification 000, part 2. The model is of the ASCII name, as the boxxy profile has it.

include "Text.dfy"

module Names {
  import opened Text

  const MAX_NAME_LENGTH := 64

  predicate method IsLowercaseLetter(c: char) { 'a' <= c <= 'z' }

  predicate method IsDigit(c: char) { '0' <= c <= '9' }

  predicate method IsHyphen(c: char) { c == '-' }

  predicate method IsNameChar(c: char) { IsLowercaseLetter(c) || IsDigit(c) || IsHyphen(c) }

  predicate method AllNameChars(s: string) { forall i :: 0 <= i < |s| ==> IsNameChar(s[i]) }

  predicate method NoEdgeHyphen(s: string) { |s| > 0 ==> !IsHyphen(s[0]) && !IsHyphen(s[|s| - 1]) }

  predicate method NoConsecutiveHyphens(s: string) {
    forall i :: 0 <= i < |s| - 1 ==> !(IsHyphen(s[i]) && IsHyphen(s[i + 1]))
  }

  predicate method HasNameLength(s: string) { 1 <= |s| <= MAX_NAME_LENGTH }

  predicate method IsValidSkillName(s: string) {
    HasNameLength(s) && AllNameChars(s) && NoEdgeHyphen(s) && NoConsecutiveHyphens(s)
  }

  // One pass, one bit of memory, and never a look beyond character 65.
  method ScanName(s: string) returns (ok: bool)
    ensures ok <==> IsValidSkillName(s)
  {
    var inWord := false;
    var i := 0;
    while i < |s|
      invariant 0 <= i <= |s| && i <= MAX_NAME_LENGTH
      invariant AllNameChars(s[..i]) && NoConsecutiveHyphens(s[..i])
      invariant i > 0 ==> !IsHyphen(s[0])
      invariant inWord <==> i > 0 && !IsHyphen(s[i - 1])
    {
      if i == MAX_NAME_LENGTH {
        return false;
      }
      if IsHyphen(s[i]) {
        if !inWord {
          if i > 0 {
            assert IsHyphen(s[i - 1]) && IsHyphen(s[i - 1 + 1]);
          }
          return false;
        }
        inWord := false;
      } else if IsLowercaseLetter(s[i]) || IsDigit(s[i]) {
        inWord := true;
      } else {
        return false;
      }
      i := i + 1;
    }
    assert s[..|s|] == s;
    return inWord;
  }

  // ── the same as the pattern ^[a-z0-9]+(-[a-z0-9]+)*$ ──

  predicate IsWordChar(c: char) { IsLowercaseLetter(c) || IsDigit(c) }

  predicate AllWordChars(s: string) { forall i :: 0 <= i < |s| ==> IsWordChar(s[i]) }

  predicate IsWord(s: string) { |s| >= 1 && AllWordChars(s) }

  // One word, then any number of hyphens with a word behind each.
  predicate MatchesPattern(s: string) { forall p :: p in Split(s, '-') ==> IsWord(p) }

  predicate WordsAfterTheFirst(s: string) {
    var parts := Split(s, '-');
    AllWordChars(parts[0]) && forall i :: 1 <= i < |parts| ==> IsWord(parts[i])
  }

  lemma WordsAndHyphens(s: string)
    ensures WordsAfterTheFirst(s) <==>
      AllNameChars(s) && NoConsecutiveHyphens(s) && (|s| > 0 ==> !IsHyphen(s[|s| - 1]))
    ensures |Split(s, '-')[0]| > 0 <==> |s| > 0 && !IsHyphen(s[0])
    decreases |s|
  {
    if |s| > 0 {
      var t := s[1..];
      WordsAndHyphens(t);
      var parts, rest := Split(s, '-'), Split(t, '-');
      assert forall i :: 0 <= i < |t| ==> t[i] == s[i + 1];
      assert AllNameChars(s) <==> IsNameChar(s[0]) && AllNameChars(t) by {
        if IsNameChar(s[0]) && AllNameChars(t) {
          forall i | 0 <= i < |s| ensures IsNameChar(s[i]) {
            if i > 0 { assert s[i] == t[i - 1]; }
          }
        }
      }
      assert NoConsecutiveHyphens(s) <==>
          NoConsecutiveHyphens(t) && !(|t| > 0 && IsHyphen(s[0]) && IsHyphen(t[0])) by {
        if NoConsecutiveHyphens(t) && !(|t| > 0 && IsHyphen(s[0]) && IsHyphen(t[0])) {
          forall i | 0 <= i < |s| - 1 ensures !(IsHyphen(s[i]) && IsHyphen(s[i + 1])) {
            if i > 0 { assert s[i] == t[i - 1] && s[i + 1] == t[i - 1 + 1]; }
          }
        }
        if NoConsecutiveHyphens(s) {
          forall i | 0 <= i < |t| - 1 ensures !(IsHyphen(t[i]) && IsHyphen(t[i + 1])) {
            assert t[i] == s[i + 1] && t[i + 1] == s[i + 1 + 1];
          }
          if |t| > 0 { assert t[0] == s[0 + 1]; }
        }
      }
      if s[0] == '-' {
        assert parts == [""] + rest;
        assert forall i :: 0 <= i < |rest| ==> parts[i + 1] == rest[i];
        assert WordsAfterTheFirst(s) <==> WordsAfterTheFirst(t) && |rest[0]| > 0 by {
          if WordsAfterTheFirst(s) {
            assert IsWord(parts[0 + 1]);
            forall i | 1 <= i < |rest| ensures IsWord(rest[i]) { assert parts[i + 1] == rest[i]; }
          }
          if WordsAfterTheFirst(t) && |rest[0]| > 0 {
            forall i | 1 <= i < |parts| ensures IsWord(parts[i]) { assert parts[i] == rest[i - 1]; }
          }
        }
      } else {
        assert parts[0] == [s[0]] + rest[0];
        assert forall i :: 1 <= i < |rest| ==> parts[i] == rest[i];
        assert |parts| == |rest|;
        assert AllWordChars(parts[0]) <==> IsWordChar(s[0]) && AllWordChars(rest[0]) by {
          if AllWordChars(parts[0]) {
            assert parts[0][0] == s[0];
            forall i | 0 <= i < |rest[0]| ensures IsWordChar(rest[0][i]) { assert parts[0][i + 1] == rest[0][i]; }
          }
        }
        assert WordsAfterTheFirst(s) <==> WordsAfterTheFirst(t) && IsWordChar(s[0]);
      }
    }
  }

  lemma PatternEqualsPredicate(s: string)
    ensures MatchesPattern(s) && |s| <= MAX_NAME_LENGTH <==> IsValidSkillName(s)
  {
    WordsAndHyphens(s);
    var parts := Split(s, '-');
    assert MatchesPattern(s) <==> WordsAfterTheFirst(s) && |parts[0]| > 0 by {
      if MatchesPattern(s) {
        assert IsWord(parts[0]);
        forall i | 1 <= i < |parts| ensures IsWord(parts[i]) { assert parts[i] in parts; }
      }
    }
  }

  // ── what follows for whoever uses a name ──

  // A name is one component of a path, never `.` or `..`, and needs no quoting in a shell or in XML.
  lemma NameIsPlain(s: string)
    requires IsValidSkillName(s)
    ensures s != "" && s != "." && s != ".."
    ensures forall c :: c in s ==> c !in "/\\.:~$%&<>\"' \t\n\0"
  {
    if s == "." || s == ".." { assert !IsNameChar(s[0]); }
  }

  // Words joined by a hyphen are a name again, while they are short enough.
  lemma NamesCompose(a: string, b: string)
    requires IsValidSkillName(a) && IsValidSkillName(b) && |a| + 1 + |b| <= MAX_NAME_LENGTH
    ensures IsValidSkillName(a + "-" + b)
  {
    var s := a + "-" + b;
    forall i | 0 <= i < |s| ensures IsNameChar(s[i]) {
      if i < |a| { assert s[i] == a[i]; } else if i > |a| { assert s[i] == b[i - |a| - 1]; }
    }
    forall i | 0 <= i < |s| - 1 ensures !(IsHyphen(s[i]) && IsHyphen(s[i + 1])) {
      if i + 1 < |a| { assert s[i] == a[i] && s[i + 1] == a[i + 1]; }
      else if i + 1 == |a| { assert s[i] == a[|a| - 1]; }
      else if i == |a| { assert s[i + 1] == b[0]; }
      else { assert s[i] == b[i - |a| - 1] && s[i + 1] == b[i - |a| - 1 + 1]; }
    }
    assert s[0] == a[0] && s[|s| - 1] == b[|b| - 1];
  }

  // ── the examples of the sources ──

  lemma ValidExamples()
    ensures IsValidSkillName("pdf")
    ensures IsValidSkillName("pdf-processing")
    ensures IsValidSkillName("data-analysis")
    ensures IsValidSkillName("code-review")
    ensures IsValidSkillName("xlsx")
    ensures IsValidSkillName("skill-creator")
    ensures IsValidSkillName("hello")
    ensures IsValidSkillName("7zip")
    ensures IsValidSkillName("a")
    // 000 calls this one 65 characters long; it has 33.
    ensures |"pdf-processing-and-analysis-suite"| == 33 && IsValidSkillName("pdf-processing-and-analysis-suite")
  {
  }

  lemma InvalidExamples()
    ensures !IsValidSkillName("")
    ensures !IsValidSkillName("PDF-Processing")
    ensures !IsValidSkillName("-pdf")
    ensures !IsValidSkillName("pdf-")
    ensures !IsValidSkillName("pdf--processing")
    ensures !IsValidSkillName("pdf_processing")
    ensures !IsValidSkillName("-")
    ensures !IsValidSkillName("my skill")
  {
    assert !IsNameChar("PDF-Processing"[0]);
    var double := "pdf--processing";
    assert IsHyphen(double[3]) && IsHyphen(double[3 + 1]);
    assert !IsNameChar("pdf_processing"[3]);
    assert !IsNameChar("my skill"[2]);
    var ends := "pdf-";
    assert IsHyphen(ends[|ends| - 1]);
  }

  lemma BoundaryLengths()
    ensures !IsValidSkillName(Repeat('a', 0))
    ensures IsValidSkillName(Repeat('a', 1))
    ensures IsValidSkillName(Repeat('a', 63))
    ensures IsValidSkillName(Repeat('a', 64))
    ensures !IsValidSkillName(Repeat('a', 65))
  {
    forall n: nat | 1 <= n <= 64 ensures IsValidSkillName(Repeat('a', n)) {
      var s := Repeat('a', n);
      assert forall i :: 0 <= i < n ==> s[i] == 'a';
    }
  }
}
