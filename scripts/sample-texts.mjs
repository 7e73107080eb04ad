// The words of the samples that `make-samples.mjs` sets as a PDF and an EPUB. Written for this project; CC0 1.0.

export const pdfSample = {
  title: 'What Stays: Notes on Memory and Reading',
  author: 'The Commonplace Project',
  /** Paragraphs; those that begin with `# ` are headings. */
  text: [
    'Ask a reader what happened in a novel she finished last spring, and she will tell you about a harbour, a quarrel on a staircase, and the way the light came in. Ask for the argument of a book of history that she admired, and there is a longer silence. She remembers that she admired it. She could find it on the shelf without looking. But the argument itself, which took her eleven evenings to follow, has gone wherever such things go, and has left behind only its colour.',
    'This is not a failing of hers. It is how a mind works that has more to do than to store what passes through it. The surprise is not that we forget most of what we read, but that we go on being surprised.',

    '# The curve',
    'In the last decades of the nineteenth century a patient man sat down alone and learned long lists of syllables that meant nothing at all. He repeated each list until he could say it twice without a fault, put it away, and tested himself: after twenty minutes, after an hour, after a day, after a month. Then he drew the result. The line falls like a stone at first and afterwards like a feather. More than half of what is to be lost is lost within the hour; what is still there after a week may be there for years.',
    'Nobody reads nonsense syllables for pleasure, and a page of good prose holds on better than a row of them. It has reasons in it, and faces, and a reason is a handle. But the shape of the line is the same. The steepest part of forgetting comes directly after we close the book, at the very moment when we feel that we know it best.',
    'That feeling deserves suspicion. A text that we have just read seems clear because it is near. We take the ease with which the eye moves over the page for a sign that the matter has gone in, and so we read the chapter a second time, more easily still, and are more pleased with ourselves than before. It would be better to close it and try to say what it said. The attempt is unpleasant. It shows at once where the holes are. And it is the attempt, far more than the second reading, that mends them.',

    '# The use of effort',
    'The experiments that show this are among the steadiest in the study of learning. One group reads a passage four times. Another reads it once, and then three times over tries to write down from a blank page what it can recall. Asked the same evening, the first group does a little better and is far more confident. Asked a week later, it has lost more than half, and the second group has lost hardly anything. To fetch a thing from memory is not like fetching a coat from a wardrobe, which is the same coat afterwards. It is more like walking across a field: the path is there because people went that way.',
    'So a question is worth more than an underline. A reader who stops at the foot of the page and asks himself what has just been claimed, and why anyone should doubt it, has done in half a minute what no amount of yellow ink will do for him. He does not need to be right. A wrong guess that is then corrected is remembered better than a right answer that was merely handed over.',
    'It matters, too, when the question comes. If it comes at once, it is too easy, and the ease teaches nothing. If it comes in a year, there is nothing left to ask about. Somewhere between the two lies the day on which a thing has almost, but not quite, slipped away; and a reminder that arrives on that day does more good than ten that arrive too soon. Each time the thing is fetched back, the next such day moves further off: from tomorrow to next week, from next week to the end of the season. A sentence that you have met five times in this way is yours for as long as you are likely to need it.',

    '# What is worth keeping',
    'None of this would be of much use if we had to decide in advance what to remember. We hardly ever know. The passage that will matter in ten years looks today like all the others, or looks like nothing much, a remark in passing, a footnote about bees. This is the best argument for writing things down: not that paper remembers for us, but that it lets us put off deciding. What has been kept can be thrown away later. What has not been kept cannot be sent for.',
    'But paper alone is a poor memory, since it only answers when it is asked. The notes of a lifetime, stacked in a cupboard, are as silent as if they had never been made. To be of use they have to come and find us: on a slow morning, one or two at a time, chosen from what we ourselves once thought worth the ink. Three sentences with the coffee are enough. One of them will be stale, and can be let go. One will be an old friend. And the third, with luck, will be something that you had entirely forgotten, in the words of someone who has been dead for two hundred years, on the very matter that kept you awake last night.',

    '# A small regimen',
    'When you have finished a chapter, close the book over your finger and say aloud, or write on a slip, the one thing in it that you would tell a friend. Only then open it again and see what you left out.',
    'Mark little. Let the mark mean that you wish to be asked about this, not that you liked it.',
    'Leave a day between reading a thing and judging it. Sleep is not an interruption of study. It is when the clerk goes round with the lamp and puts the papers in order.',
    'Talk about what you read, to anyone who will stand still. To explain is to remember in public, and nothing so quickly finds the step that is missing from the stair.',
    'And do not mourn for what is gone. You have also forgotten nearly every meal that you have ever eaten, and they made you what you are.',
  ],
}

export const epubSample = {
  title: 'The Slow Index',
  author: 'The Commonplace Project',
  description:
    'Two short chapters about a librarian, a card catalogue, and what it means to find something again.',
  published: '2026-11-30',
  language: 'en-GB',
  chapters: [
    {
      title: 'The Drawers',
      text: [
        'The library in our town had been a corn exchange, and on wet days it still smelled faintly of sacks. You came in under a clock that was four minutes slow. On the left were the newspapers on their sticks, on the right a stove, and straight ahead, where you would have expected a desk with someone behind it, stood the catalogue: ninety-six oak drawers, each with a brass frame and a label in brown ink.',
        'Miss Aldous, who had charge of it, did not approve of people going straight to the shelves. It was not that she wished to be consulted. She simply believed that a person who goes to a shelf finds the book he came for, and that this is a small thing compared with what may happen to him on the way.',
        '"Ask the drawers," she would say. "They are quicker than I am, and they do not mind being interrupted."',
        'I was eleven, and I had come about pigeons. There was a card for pigeons. It gave the number of a book, as a card should, and under the number, in the brown ink, it said: <em>See also: Homesickness</em>.',
        'I took this for a mistake. I carried the card to her, which was not allowed, and she looked at it for some time over her glasses, as if it had been written by somebody else.',
        '"No," she said, "that is quite right. You will see why when you get there." And she put the card back in its place without needing to look for the place.',
        "So I pulled out the drawer that went from Hedges to Hygiene. Under Homesickness there were four books and a sailor's diary, and at the bottom: <em>See also: Maps, false. Bread. Pigeons.</em> Bread led to Rivers, by way of mills. Rivers led to Boundaries, and Boundaries to a treatise on the law of hedges, in which somebody, long before Miss Aldous, had pressed a leaf. It was closing time before I had read a page about pigeons. I had never been so well entertained in my life.",
        'It took me years to understand what she had done. Anyone can put a book under its subject; the title usually says what that is. She had read the books, all of them, over thirty winters, and she had put down on the cards what they had made her think of. The shelf knew where a book was. The drawers knew what it was <em>near</em>.',
      ],
    },
    {
      title: 'The Move',
      text: [
        'In the spring after I had gone away to study, the county sent a man with a machine. He was civil about it. In six weeks every title in the building could be found in under a second by anybody who could spell it, and the oak drawers were carried down to the cellar, where they would be dry.',
        'Miss Aldous was given a course of instruction and a certificate. She told me about it when I came home at Christmas. We were drinking tea in the room behind the stove.',
        '"It is very good," she said. "I mean that. A boy came in on Tuesday for a book on the repair of bicycles, and he had it in his hand before he had closed the door. With me he would have been here till six." She turned her cup a little in its saucer. "He did not stay, of course. Why should he? He had found it."',
        'I said something about progress. I was at the age when one does.',
        '"Try it," she said. "Ask it for something."',
        'I sat down at the screen and thought, and typed that I wanted a book about being far from a place and wishing oneself back in it. The machine considered this, and told me that it had found nothing, and suggested that I check my spelling.',
        '"You have to know the word," said Miss Aldous. "That is the only thing. If you know what it is called, it will bring it to you like a good dog. But the people who come in here hardly ever know what it is called. If they knew what it was called, half of them would be cured."',
        'She died in the year that I got my first post. There was not much to leave. I had a letter from a solicitor, and then, on a cold morning, a van with the ninety-six drawers in it, which the county had been glad to be rid of. They filled the hall and most of the stairs.',
        'I have them still. For a long time I thought that I ought to do something with them, copy the cards or give them to a museum. In the end I did what she would have done. I read a book, and when I had finished it I took a blank card and wrote down, not what it was about, since the title says that, but what it was near. Then I went along the brass labels with the card in my hand until I came to the place.',
        "Nowadays there are machines that would have known what I meant. You can tell them, in whatever words you have, that you are far from somewhere and wish that you were back, and they will find you the sailor's diary, though the word is nowhere in it. I use one every day. I think that she would have liked it; I think that she would have asked it for pigeons, and waited, with her head on one side, to see whether it had the sense to send her somewhere else.",
        'Last week I opened the drawer from Hedges to Hygiene to put something away. Behind the card for Homesickness there was another that I had never noticed, thin with use, in the brown ink. It had no number on it, and no title. It said only: <em>See also: the boy who came about pigeons.</em>',
      ],
    },
  ],
}
