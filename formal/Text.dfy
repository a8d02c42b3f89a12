// Texts are sequences of characters. A character stands for one code point.

module Text {
  datatype Option<T> = None | Some(value: T)

  predicate StartsWith(s: string, start: string) {
    |start| <= |s| && s[..|start|] == start
  }

  predicate NoDuplicates<T(==)>(s: seq<T>) {
    forall i, j :: 0 <= i < j < |s| ==> s[i] != s[j]
  }

  function method Repeat(c: char, n: nat): string
    ensures |Repeat(c, n)| == n
    ensures forall i :: 0 <= i < n ==> Repeat(c, n)[i] == c
  {
    if n == 0 then "" else [c] + Repeat(c, n - 1)
  }

  // The parts between the separators, empty ones included; one part more than there are separators.
  function method Split(s: string, separator: char): seq<string>
    ensures |Split(s, separator)| >= 1
    ensures forall p :: p in Split(s, separator) ==> separator !in p
    decreases |s|
  {
    if |s| == 0 then [""]
    else if s[0] == separator then [""] + Split(s[1..], separator)
    else
      var rest := Split(s[1..], separator);
      [[s[0]] + rest[0]] + rest[1..]
  }

  function method Join(parts: seq<string>, separator: char): string
    decreases |parts|
  {
    if |parts| == 0 then ""
    else if |parts| == 1 then parts[0]
    else parts[0] + [separator] + Join(parts[1..], separator)
  }

  lemma SplitLosesNothing(s: string, separator: char)
    ensures Join(Split(s, separator), separator) == s
    decreases |s|
  {
    if |s| > 0 {
      SplitLosesNothing(s[1..], separator);
      var rest := Split(s[1..], separator);
      if s[0] == separator {
        assert Split(s, separator)[1..] == rest;
        assert s == [s[0]] + s[1..];
      } else {
        var parts := Split(s, separator);
        assert parts[1..] == rest[1..];
        assert s == [s[0]] + s[1..];
        if |rest| == 1 {
        } else {
          assert Join(parts, separator) == parts[0] + [separator] + Join(rest[1..], separator);
          assert Join(rest, separator) == rest[0] + [separator] + Join(rest[1..], separator);
          assert parts[0] + [separator] + Join(rest[1..], separator) == [s[0]] + (rest[0] + [separator] + Join(rest[1..], separator));
        }
      }
    }
  }

  lemma PartsComeFromTheText(s: string, separator: char, c: char)
    requires c !in s
    ensures forall p :: p in Split(s, separator) ==> c !in p
    decreases |s|
  {
    if |s| > 0 {
      PartsComeFromTheText(s[1..], separator, c);
    }
  }

  lemma WithoutSeparatorThereIsOnePart(s: string, separator: char)
    requires separator !in s
    ensures Split(s, separator) == [s]
    decreases |s|
  {
    if |s| > 0 {
      WithoutSeparatorThereIsOnePart(s[1..], separator);
      assert s == [s[0]] + s[1..];
    }
  }

  lemma SplitAtSeparator(a: string, b: string, separator: char)
    ensures Split(a + [separator] + b, separator) == Split(a, separator) + Split(b, separator)
    decreases |a|
  {
    var s := a + [separator] + b;
    if |a| == 0 {
      assert s[1..] == b;
      assert Split(a, separator) == [""];
    } else {
      assert s[1..] == a[1..] + [separator] + b;
      SplitAtSeparator(a[1..], b, separator);
      var rest := Split(a[1..], separator);
      assert Split(s[1..], separator) == rest + Split(b, separator);
      if a[0] != separator {
        assert (rest + Split(b, separator))[0] == rest[0];
        assert (rest + Split(b, separator))[1..] == rest[1..] + Split(b, separator);
      }
    }
  }
}
