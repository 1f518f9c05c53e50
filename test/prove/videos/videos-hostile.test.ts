import { program } from './videos-hostile.ts'
import { short } from '../short.ts'

await short('videos-hostile', program)
