from slug import slug


def test_words_are_joined():
    assert slug("A Fine Day") == "a-fine-day"


def test_letters_lose_their_marks():
    assert slug("Ærø ist schön!") == "aero-ist-schon"
